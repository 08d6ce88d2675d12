"""A checkpoint from a folder or the hub, refused unless it is whole and what it says it is."""

import contextlib
import re
import socket
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit
from urllib.request import getproxies

import huggingface_hub
import torch
import transformers

from syntagm.errors import ModelError

Kind = Literal["causal", "masked"]
_LOADERS: dict[Kind, Any] = {
    "causal": transformers.AutoModelForCausalLM,
    "masked": transformers.AutoModelForMaskedLM,
}
# Such checkpoints have no head for words; where embeddings are tied, one would be made up without a word.
_OTHER_HEADS = re.compile("For(Sequence|Token|Image|Audio)Classification|ForQuestionAnswering|ForMultipleChoice|Reward")


def read_checkpoint(
    name: str, revision: str, dtype: torch.dtype, pickle: bool, code: bool, kind: Kind
) -> tuple[Any, Any]:
    """The model and the tokenizer in a folder, in the hub's cache, or on the hub if it can be reached.

    Raises:
        ModelError: they can't be had, or are not a whole language model of this kind with a fast tokenizer.
    """
    arguments: dict[str, Any] = {"revision": revision or None, "trust_remote_code": code}
    remote = not Path(name).is_dir()
    if remote and not _hub_answers():
        arguments["local_files_only"] = True
    with warnings.catch_warnings(), _quiet():
        warnings.simplefilter("ignore")
        try:
            model, loading = _LOADERS[kind].from_pretrained(
                name, dtype=dtype, use_safetensors=None if pickle else True, output_loading_info=True, **arguments
            )
            tokenizer = transformers.AutoTokenizer.from_pretrained(name, use_fast=True, **arguments)
        except Exception as error:  # transformers lets through whatever it meets, of many kinds
            raise _not_had(name, kind, error, remote and "local_files_only" in arguments) from error
    _refuse_another_kind(f"{kind}:{name}", kind, model, loading, tokenizer)
    return model, tokenizer


def _not_had(name: str, kind: Kind, error: Exception, unreachable: bool) -> ModelError:
    place = f"{kind}:{name}"
    if unreachable:
        return ModelError(
            place,
            "no such folder here; nor can it be had by that name: the hub can't be reached, and its cache does not hold this "
            "model whole",
            "config.json, model.safetensors and tokenizer.json",
            f"Put these files in a folder and give its path, or the model in {huggingface_hub.constants.HF_HUB_CACHE}.",
        )  # fmt: skip
    absent = "" if Path(name).is_dir() else "no such folder here, and of that name on the hub: "
    return ModelError(
        place, absent + first_line(error), f"a {kind} model in safetensors, with a fast tokenizer",
        "Give a folder with config.json, model.safetensors and tokenizer.json, or a name on the hub.",
    )  # fmt: skip


def _hub_answers() -> bool:
    """Can a connection to the hub be opened? Asked once, in place of a minute of retries where there is no network."""
    if huggingface_hub.constants.HF_HUB_OFFLINE or not getproxies().keys().isdisjoint({"https", "all"}):
        return not huggingface_hub.constants.HF_HUB_OFFLINE
    hub = urlsplit(huggingface_hub.constants.ENDPOINT)
    try:
        socket.create_connection((hub.hostname or "", hub.port or 443), timeout=3).close()
    except OSError:
        return False
    return True


def _refuse_another_kind(place: str, kind: Kind, model: Any, loading: Any, tokenizer: Any) -> None:
    for found in ("missing_keys", "mismatched_keys"):
        if lost := sorted(map(str, loading[found])):
            raise ModelError(
                place, f"{len(lost)} weights missing or of another shape, among them {lost[0]}",
                f"all weights of a {kind} language model", "Is the checkpoint whole, and has it a language-model head?",
            )  # fmt: skip
    if odd := [name for name in model.config.architectures or [] if _OTHER_HEADS.search(name)]:
        raise ModelError(
            place, f"weights of {odd[0]}", f"those of a {kind} language model",
            "Only the body was trained for that; its head would be another's.",
        )  # fmt: skip
    if not tokenizer.is_fast:
        raise ModelError(place, "a tokenizer without character positions", "a fast tokenizer (tokenizer.json)")
    if set(tokenizer.get_vocab().values()) <= set(tokenizer.added_tokens_decoder):
        # Where no tokenizer is found, some families are given an empty one without a word.
        raise ModelError(place, "a tokenizer without words", "tokenizer.json beside the weights")


def fuse_gelu(model: Any) -> Any:
    """GPT-2's GELU in one operation instead of seven: the same formula, a tenth of the time."""
    for module in list(model.modules()):
        for name, child in module.named_children():
            if type(child) is transformers.activations.NewGELUActivation:
                setattr(module, name, torch.nn.GELU(approximate="tanh"))
    return model


def first_line(error: Exception) -> str:
    """What an error says, in one line."""
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)[:300]


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Silences the progress bars and notes of transformers while a model is loaded; its errors still come through."""
    notes: Any = transformers.utils.logging
    level = notes.get_verbosity()
    notes.set_verbosity_error()
    notes.disable_progress_bar()
    try:
        yield
    finally:
        notes.set_verbosity(level)
        notes.enable_progress_bar()
