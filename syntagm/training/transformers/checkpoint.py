"""What trainings of Hugging Face models share: a tokenizer that stays the same, and a checkpoint written whole."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import transformers
from safetensors import SafetensorError
from tokenizers import Tokenizer

from syntagm.errors import RunError
from syntagm.io import atomic
from syntagm.training.record import begun, finished


def tokenizer_file(folder: Path, make: Callable[[], Tokenizer]) -> Path:
    """The tokenizer of the training that stands in a folder; or one made and written now.

    Raises:
        RunError: a model stands there that was not trained here, or the folder can't be written.
    """
    path = folder / "tokenizer.json"
    # One without a state is of a training that was killed before its first: of which text, nothing says.
    if path.exists() and (begun(folder) or finished(folder) is not None):
        return path
    if (folder / "model.safetensors").exists():
        raise RunError(str(folder), "a model that was not trained here", "a new folder")
    made = make()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise atomic.refusal(folder, error, 0) from error
    atomic.write(path, made.to_str(pretty=True).encode())
    return path


def read_tokenizer(path: Path, **symbols: str) -> Any:
    """The tokenizer in a file.

    Arguments:
        symbols: which entries serve as `unk_token`, `mask_token` and so on.

    Raises:
        RunError: the file is damaged.
    """
    fast: Any = transformers.PreTrainedTokenizerFast
    try:
        return fast(tokenizer_file=str(path), **symbols)
    except Exception as error:  # the library raises nothing narrower
        cure = "Delete the folder to begin anew."
        raise RunError(str(path), f"a damaged tokenizer ({error})", "one that a training wrote", cure) from error


def write(module: Any, tokenizer: Any, folder: Path, store: str) -> None:
    """Write a checkpoint: configuration, safetensors in the type `store`, tokenizer; each file whole or not at all.

    Raises:
        RunError: it can't be written.
    """
    module.to("cpu", torch.float16 if store == "f16" else torch.float32)
    # Its bar is for large models, and stands between the lines of the loop.
    silence: Any = transformers.logging.disable_progress_bar
    silence()
    # Not over the tokenizer that stands here, without which a training whose disk is full now could not go on.
    written = folder / ".written"
    try:
        module.save_pretrained(written)
        tokenizer.save_pretrained(written)
        _put(written, folder)
    except SafetensorError as error:
        # The library tells what the system said, not its number.
        expected = "a writable folder with free space"
        raise RunError(str(folder), f"can't be written ({error})", expected, "The same command goes on.") from error
    except OSError as error:
        size = sum(tensor.numel() * tensor.element_size() for tensor in module.parameters())
        raise atomic.refusal(folder, error, size) from error
    finally:
        shutil.rmtree(written, ignore_errors=True)
    module.float()


def _put(written: Path, folder: Path) -> None:
    """Put files in the place of those of their names, to last."""
    mode = (written / "config.json").stat().st_mode
    for path in sorted(path for path in written.rglob("*") if path.is_file()):
        # The library writes weights for the eyes of their owner alone.
        path.chmod(mode)
        target = folder / path.relative_to(written)
        target.parent.mkdir(exist_ok=True)
        atomic.put(path, target)
