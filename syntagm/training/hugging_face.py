"""What the training of transformers shares: batches of rows of similar length, tokenizer files and checkpoints."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from numpy.typing import NDArray
from safetensors import SafetensorError
from tokenizers import Tokenizer

from syntagm.core import RunError, atomic, regular, utf8
from syntagm.training.record import begun, finished

# Rows are sorted by length within this many steps: few enough that batches differ from epoch to epoch.
_NEAR = 50


def batches(
    lengths: NDArray[np.int64] | Sequence[int], batch: int, rank: int, world: int, generator: np.random.Generator
) -> NDArray[np.int64]:
    """Choose the rows of each batch of an epoch, in random order; a remainder that doesn't fill a batch is dropped."""
    order = generator.permutation(len(lengths))
    order = order[: len(order) // (batch * world) * batch * world]
    near = np.arange(len(order)) // (batch * world * _NEAR)
    groups = order[np.lexsort((np.asarray(lengths, np.int64)[order], near))].reshape(-1, world, batch)
    return generator.permutation(groups)[:, rank]


def groups(rows: Sequence[NDArray[np.int64]], tokens: int) -> Iterator[Sequence[NDArray[np.int64]]]:
    """Yield groups of rows with at most `tokens` tokens including padding; longer rows are separate groups."""
    # Rows must be sorted from longest to shortest.
    first = 0
    while first < len(rows):
        count = max(1, tokens // len(rows[first]))
        yield rows[first : first + count]
        first += count


def tokenizer_file(folder: Path, make: Callable[[], Tokenizer]) -> Path:
    """Return the tokenizer file in a training folder; build and write the tokenizer if training has not begun."""
    path = folder / "tokenizer.json"
    # A tokenizer without a state was left by a training run that was killed early; its text is unknown, so recreate it.
    if path.exists() and (begun(folder) or finished(folder) is not None):
        return path
    if (folder / "model.safetensors").exists():
        raise RunError(str(folder), "a model that was not trained here", "a new folder")
    tokenizer = make()
    atomic.make_folder(folder)
    atomic.write(path, tokenizer.to_str(pretty=True).encode())
    return path


def read_tokenizer(path: Path, **symbols: str) -> Any:
    fast: Any = transformers.PreTrainedTokenizerFast
    try:
        return fast(tokenizer_file=str(regular.checked(path, regular.MAX_BYTES)), **symbols)
    except Exception as error:  # the library raises nothing narrower
        cure = "Delete the folder to start again."
        raise RunError(
            str(path), f"a damaged tokenizer ({error})", "a tokenizer written by `syntagm train`", cure
        ) from error


def tokenizer_hash(tokenizer: Any) -> str:
    """Return the SHA-256 of a tokenizer. A training records it, so that it does not resume with a damaged tokenizer."""
    return hashlib.sha256(tokenizer.backend_tokenizer.to_str().encode()).hexdigest()


def write(module: Any, tokenizer: Any, folder: Path, save_dtype: str) -> None:
    """Write a checkpoint: configuration, safetensors and tokenizer; each file is written atomically."""
    module.to("cpu", torch.float16 if save_dtype == "f16" else torch.float32)
    # The library's progress bar would appear between the progress lines of the training loop.
    hide_progress_bar: Any = transformers.logging.disable_progress_bar
    hide_progress_bar()
    # Write into another folder first: if the disk is full, training needs its tokenizer to resume.
    try:
        with atomic.scratch(folder / "checkpoint") as written:
            module.save_pretrained(written)
            tokenizer.save_pretrained(written)
            # The name of the class that version 4 of transformers knows, too.
            settings = written / "tokenizer_config.json"
            settings.write_text(utf8.read(settings).replace('"TokenizersBackend"', '"PreTrainedTokenizerFast"'))
            _put(written, folder)
    except SafetensorError as error:
        # The library passes on the system's message without the error number.
        expected, cure = "a writable folder with free space", "Run the same command again to resume training."
        raise RunError(str(folder), f"can't be written ({error})", expected, cure) from error
    except OSError as error:
        size = sum(tensor.numel() * tensor.element_size() for tensor in module.parameters())
        raise atomic.refusal(folder, error, size) from error
    module.float()


def _put(written: Path, folder: Path) -> None:
    """Move files into the folder atomically, replacing those with the same names."""
    mode = (written / "config.json").stat().st_mode
    for path in sorted(path for path in written.rglob("*") if path.is_file()):
        # The library makes weight files readable by their owner only.
        path.chmod(mode)
        place = atomic.inside(folder, *path.relative_to(written).parts[:-1])
        atomic.make_folder(place)
        atomic.put(path, place / path.name)
