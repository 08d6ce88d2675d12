"""Checkpoints of PyTorch in its old layout, written byte by byte, and hostile ones."""

import pickle
import struct
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

MAGIC, PROTOCOL = 0x1950A86A20F9469CFC6C, 1001
SYSTEM = {"protocol_version": PROTOCOL, "little_endian": True, "type_sizes": {"short": 2, "int": 4, "long": 4}}
WORDS = ["the", "dogs", "<eos>", "bark", ".", "<unk>", "dog", "barks", "no", "ever", "'s", "n't", "ca"]

Weights = Mapping[str, np.ndarray[Any, Any]]


def name(module: str, attribute: str) -> bytes:
    return f"c{module}\n{attribute}\n".encode()


def text(value: str) -> bytes:
    return b"X" + struct.pack("<I", len(value.encode())) + value.encode()


def whole(value: int) -> bytes:
    return b"J" + struct.pack("<i", value)


def row(*values: bytes) -> bytes:
    return b"(" + b"".join(values) + b"t"


def wholes(values: Sequence[int]) -> bytes:
    return row(*map(whole, values))


def call(function: bytes, *arguments: bytes) -> bytes:
    return function + row(*arguments) + b"R"


def ordered(pairs: Mapping[str, bytes]) -> bytes:
    return call(name("collections", "OrderedDict")) + filled(pairs)


def plain(pairs: Mapping[str, bytes]) -> bytes:
    return b"}" + filled(pairs)


def filled(pairs: Mapping[str, bytes]) -> bytes:
    return b"(" + b"".join(text(key) + value for key, value in pairs.items()) + b"u"


def storage(
    key: str, count: int, kind: str = "FloatStorage", location: str = "cuda:0", module: str = "torch.cuda"
) -> bytes:
    parts = [text("storage"), name(module, kind), text(key), text(location), whole(count)]
    return row(*parts, b"N") + b"Q"


def tensor(key: str, count: int, shape: Sequence[int], offset: int = 0, strides: Sequence[int] | None = None) -> bytes:
    strides = strides or [int(np.prod(shape[at + 1 :])) for at in range(len(shape))]
    return call(
        name("torch._utils", "_rebuild_tensor"), storage(key, count), whole(offset), wholes(shape), wholes(strides)
    )


def parameter(value: bytes) -> bytes:
    """A parameter as PyTorch 0.3 wrote it: made anew, and given attributes."""
    hooks = call(name("collections", "OrderedDict"))
    return name("torch.nn.parameter", "Parameter") + row(value) + b"\x81" + row(b"\x88", b"\x89", hooks) + b"b"


def module(
    kind: tuple[str, str], modules: Mapping[str, bytes], parameters: Mapping[str, bytes], **more: bytes
) -> bytes:
    """A module with the source text of its class."""
    wrapped = row(text("module"), name(*kind), text("model.py"), text("import os; os.system('true')")) + b"Q"
    empty = ordered({})
    state = {
        "_backend": call(name("torch.nn.backends.thnn", "_get_thnn_function_backend")),
        "_parameters": ordered(parameters), "_buffers": empty, "_backward_hooks": empty, "_forward_hooks": empty,
        "_modules": ordered(modules), "training": b"\x89", **more,
    }  # fmt: skip
    return wrapped + b")\x81" + plain(state) + b"b"


def legacy(value: bytes, storages: Mapping[str, np.ndarray[Any, Any]]) -> bytes:
    """A file of five pickles, followed by the storages."""
    pickles = [pickle.dumps(part, 2) for part in (MAGIC, PROTOCOL, SYSTEM)]
    pickles += [b"\x80\x02" + value + b".", pickle.dumps(list(storages), 2)]
    contents = [struct.pack("<q", numbers.size) + numbers.tobytes() for numbers in storages.values()]
    return b"".join(pickles + contents)


def weights(words: int = len(WORDS), embedding: int = 3, hidden: int = 4, layers: int = 2, seed: int = 1) -> Weights:
    """Random weights of an LSTM, by the names of PyTorch's word language model."""
    random = np.random.default_rng(seed)
    shapes: dict[str, tuple[int, ...]] = {"encoder.weight": (words, embedding)}
    for layer in range(layers):
        shapes[f"rnn.weight_ih_l{layer}"] = (4 * hidden, hidden if layer else embedding)
        shapes[f"rnn.weight_hh_l{layer}"] = (4 * hidden, hidden)
        shapes |= {f"rnn.bias_{part}_l{layer}": (4 * hidden,) for part in ("ih", "hh")}
    shapes |= {"decoder.weight": (words, hidden), "decoder.bias": (words,)}
    return {key: random.normal(0, 1, shape).astype(np.float32) for key, shape in shapes.items()}


def grnn(values: Weights, rnn_type: str = "LSTM") -> bytes:
    """A module `model.RNNModel` in the layout of 2018: CUDA storages, and all weights of the LSTM in one of them."""
    recurrent = {key.removeprefix("rnn."): value for key, value in values.items() if key.startswith("rnn.")}
    flat = np.concatenate([value.ravel() for value in recurrent.values()])
    parts, offset = {}, 0
    for key, value in recurrent.items():
        parts[key] = parameter(tensor("94001", flat.size, value.shape, offset))
        offset += value.size
    storages = {"94001": flat}

    def layer(kind: tuple[str, str], prefix: str) -> bytes:
        own = {}
        for at, (key, value) in enumerate(values.items()):
            if key.startswith(f"{prefix}."):
                storages[f"95{at}"] = value
                own[key.removeprefix(f"{prefix}.")] = parameter(tensor(f"95{at}", value.size, value.shape))
        return module(kind, {}, own)

    modules = {
        "drop": module(("torch.nn.modules.dropout", "Dropout"), {}, {}, p=b"G" + struct.pack(">d", 0.2)),
        "encoder": layer(("torch.nn.modules.sparse", "Embedding"), "encoder"),
        "rnn": module(("torch.nn.modules.rnn", "LSTM"), {}, parts, mode=text("LSTM")),
        "decoder": layer(("torch.nn.modules.linear", "Linear"), "decoder"),
    }
    value = module(("model", "RNNModel"), modules, {}, rnn_type=text(rnn_type), nhid=whole(4), nlayers=whole(2))
    return legacy(value, storages)
