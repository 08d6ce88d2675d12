"""Faster layers for models on a CPU, with the numbers of the original layers up to rounding.

PyTorch multiplies float32 matrices by MKL, whose AVX-512 kernels run on Intel's processors only. On AMD's, it uses AVX2, and
oneDNN, which PyTorch contains, too, is twice as fast. oneDNN adds the bias within the product.
"""

import math
import platform
from functools import cache
from typing import Any

import torch
import transformers

from syntagm.core import regular
from syntagm.models.hugging_face.quantised import plain

# Numbers of GELU that are computed at a time, so that they fit into the processor's cache.
_BLOCK = 1 << 17
# GELU(x) = x * sigmoid(x * (_LINEAR + _CUBIC * x^2)) is the usual formula with tanh, but for rounding.
_LINEAR = 2 * math.sqrt(2 / math.pi)
_CUBIC = 0.044715 * _LINEAR


def quicken(model: Any) -> bool:
    """Replace layers of a model in place by faster ones; return whether oneDNN now computes linear layers."""
    replaced = False
    for module in list(model.modules()):
        for name, child in module.named_children():
            if type(child) is transformers.activations.NewGELUActivation:
                setattr(module, name, Gelu().train(child.training))
        if has_faster_products() and type(module) in _FASTER and _is_float32(module):
            if type(module) is transformers.pytorch_utils.Conv1D:
                # The shape stays, but columns are contiguous instead of rows, as oneDNN needs them.
                module.weight.data = module.weight.data.t().contiguous().t()
            module.__class__ = _FASTER[type(module)]
            replaced = True
    return replaced


@cache
def has_faster_products() -> bool:
    """Return whether oneDNN multiplies float32 matrices faster than MKL on this machine."""
    try:
        processor = regular.content("/proc/cpuinfo").decode()
    except OSError:
        processor = platform.processor()
    libraries: Any = (torch.backends.mkl, torch.backends.mkldnn)
    return (
        "AuthenticAMD" in processor
        and torch.backends.cpu.get_cpu_capability() == "AVX512"
        and all(library.is_available() for library in libraries)
    )


def _is_float32(layer: Any) -> bool:
    # A layer with quantised weights may keep them under another name.
    weight = getattr(layer, "weight", None)
    return weight is not None and weight.dtype == torch.float32 and weight.device.type == "cpu" and plain(weight)


class Linear(torch.nn.Linear):
    """A linear layer that is computed by oneDNN."""

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        """Apply the layer."""
        return product(input, self.weight, self.bias)


class Conv1D(transformers.pytorch_utils.Conv1D):
    """GPT-2's linear layer, computed by oneDNN."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Apply the layer."""
        return product(x, self.weight.t(), self.bias)


_FASTER: dict[type, type] = {torch.nn.Linear: Linear, transformers.pytorch_utils.Conv1D: Conv1D}


def product(inputs: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
    """Compute a linear layer by oneDNN."""
    if torch.is_grad_enabled():
        return torch.nn.functional.linear(inputs.to_mkldnn(), weight, bias).to_dense()
    # The same product without copies of its inputs and outputs. It has no gradients.
    result: torch.Tensor = torch.ops.mkldnn._linear_pointwise(inputs, weight, bias, "none", [], "")
    return result


class Gelu(torch.nn.Module):
    """GPT-2's GELU (its tanh approximation), computed on a CPU in blocks."""

    # In transformers it takes seven operations over the whole input.

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """Apply the function."""
        if inputs.device.type != "cpu" or inputs.requires_grad:
            return torch.nn.functional.gelu(inputs, approximate="tanh")
        result = torch.empty_like(inputs, memory_format=torch.contiguous_format)
        width, wide = inputs.shape[-1], torch.promote_types(inputs.dtype, torch.float32)
        blocks, outs = (torch.split(tensor.reshape(-1, width), max(1, _BLOCK // width)) for tensor in (inputs, result))
        for block, out in zip(blocks, outs, strict=True):
            rows = block.to(wide)
            torch.mul(rows, rows.square().mul_(_CUBIC).add_(_LINEAR).mul_(rows).sigmoid_(), out=out)
        return result
