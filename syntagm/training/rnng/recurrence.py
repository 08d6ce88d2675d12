"""An LSTM layer over a forest: each element is read in the state of another one, and several may be read in the same one.

Elements are processed level by level. A sequence is a forest with one element in each level. The gradients are computed
here: automatic differentiation would add up the gradient of the weights once for each level, and fill an array of zeros
as large as all gates.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor


def run(gates: Tensor, recurrent: Tensor, levels: Sequence[Tensor], hidden: Tensor, cell: Tensor) -> Tensor:
    """Return the hidden state after each element, shape (elements, width), level by level."""
    apply: Any = _Run.apply
    states: Tensor = apply(gates, recurrent, hidden, cell, levels)
    return states


class _Run(torch.autograd.Function):
    @staticmethod
    def forward(
        context: Any, gates: Tensor, recurrent: Tensor, hidden: Tensor, cell: Tensor, levels: Sequence[Tensor]
    ) -> Tensor:
        context.kinds, context.starts, context.levels = (gates.dtype, hidden.dtype, cell.dtype), len(hidden), levels
        hidden, cell, gates, width = hidden.float(), cell.float(), gates.float().clone(), recurrent.shape[1]
        sizes = [len(level) for level in levels]
        # Written level by level: hidden states, those before, cell states before, and their tanh.
        arrays = [gates.new_empty(len(gates), width) for _ in range(4)]
        parts = zip(*(torch.split(array, sizes) for array in (gates, *arrays)), strict=True)
        with torch.autocast(gates.device.type, enabled=False):
            for below, (part, of_hidden, hidden_before, cell_before, tanh) in zip(levels, parts, strict=True):
                torch.index_select(hidden, 0, below, out=hidden_before)
                torch.index_select(cell, 0, below, out=cell_before)
                if len(below) > len(hidden):
                    part += (hidden @ recurrent.T).index_select(0, below)
                else:
                    part.addmm_(hidden_before, recurrent.T)
                enter, forget, new, leave = torch.split(part, width, 1)
                part[:, : 2 * width].sigmoid_()
                new.tanh_()
                leave.sigmoid_()
                cell = torch.addcmul(forget * cell_before, enter, new)
                torch.tanh(cell, out=tanh)
                hidden = torch.mul(leave, tanh, out=of_hidden)
        context.save_for_backward(gates, recurrent, *arrays[1:])
        return arrays[0]

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, None]:
        activations, recurrent, hiddens_before, cells_before, tanhs = context.saved_tensors
        levels, width = context.levels, recurrent.shape[1]
        sizes = [len(level) for level in levels]
        of_gates, of_states = torch.empty_like(activations), gradients[0].float()
        of_hidden = of_cell = of_states.new_zeros(sizes[-1], width)
        arrays = of_gates, activations, cells_before, tanhs, of_states
        parts = zip(*(torch.split(array, sizes) for array in arrays), strict=True)
        rows = [context.starts, *sizes[:-1]]
        for below, row, (of_part, part, cell_before, tanh, of_level) in reversed(
            [*zip(levels, rows, parts, strict=True)]
        ):
            of_hidden = of_hidden + of_level
            enter, forget, new, leave = torch.split(part, width, 1)
            of_enter, of_forget, of_new, of_leave = torch.split(of_part, width, 1)
            through = of_hidden * leave
            of_cell = of_cell + through - through * tanh * tanh
            torch.mul(of_hidden, tanh, out=of_leave)
            torch.mul(of_cell, new, out=of_enter)
            torch.mul(of_cell, cell_before, out=of_forget)
            torch.mul(of_cell, enter, out=of_new)
            of_new.sub_(of_new * new * new)
            for of_gate, gate in ((of_enter, enter), (of_forget, forget), (of_leave, leave)):
                of_gate.mul_(gate - gate * gate)
            if row < len(below):
                of_hidden = of_part.new_zeros(row, 4 * width).index_add_(0, below, of_part) @ recurrent
            else:
                of_hidden = of_part.new_zeros(row, width).index_add_(0, below, of_part @ recurrent)
            of_cell = of_part.new_zeros(row, width).index_add_(0, below, of_cell * forget)
        kinds = context.kinds
        of_recurrent = of_gates.T @ hiddens_before
        return of_gates.to(kinds[0]), of_recurrent, of_hidden.to(kinds[1]), of_cell.to(kinds[2]), None
