"""Loading of checkpoints from a folder or the hub, with checks of completeness and kind."""

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
# Such checkpoints have no language-model head. With tied embeddings, transformers would add a head without a warning.
_OTHER_HEADS = re.compile("For(Sequence|Token|Image|Audio)Classification|ForQuestionAnswering|ForMultipleChoice|Reward")


def read_checkpoint(
    name: str, revision: str, dtype: torch.dtype, pickle: bool, code: bool, kind: Kind
) -> tuple[Any, Any]:
    """Load a model and its tokenizer from a folder, the hub's cache, or the hub if it can be reached.

    Arguments:
        name: folder, or name on the hub.
        revision: revision on the hub; empty for the default.
        dtype: dtype of the weights.
        pickle: whether pickled weights are allowed.
        code: whether code that comes with the model is allowed.
        kind: the kind of language model.

    Raises:
        ModelError: the files can't be loaded, or are not a complete language model of this kind with a fast tokenizer.
    """
    arguments: dict[str, Any] = {"revision": revision or None, "trust_remote_code": code}
    remote = not Path(name).is_dir()
    if remote and not _hub_is_reachable():
        arguments["local_files_only"] = True
    with warnings.catch_warnings(), _quiet():
        warnings.simplefilter("ignore")
        try:
            model, loading = _LOADERS[kind].from_pretrained(
                name, dtype=dtype, use_safetensors=None if pickle else True, output_loading_info=True, **arguments
            )
            tokenizer = transformers.AutoTokenizer.from_pretrained(name, use_fast=True, **arguments)
        except Exception as error:  # transformers raises exceptions of many types
            raise _not_found(name, kind, error, remote and "local_files_only" in arguments) from error
    _refuse_another_kind(f"{kind}:{name}", kind, model, loading, tokenizer)
    return model, tokenizer


def _not_found(name: str, kind: Kind, error: Exception, unreachable: bool) -> ModelError:
    place = f"{kind}:{name}"
    if unreachable:
        return ModelError(
            place,
            "no such folder, and no model of that name: the hub can't be reached, and its cache does not contain "
            "the complete model",
            "config.json, model.safetensors and tokenizer.json",
            f"Put these files in a folder and give its path, or put the model in {huggingface_hub.constants.HF_HUB_CACHE}.",
        )  # fmt: skip
    absent = "" if Path(name).is_dir() else "no such folder, and for this name on the hub: "
    return ModelError(
        place, absent + first_line(error), f"a {kind} model in safetensors format, with a fast tokenizer",
        "Give a folder with config.json, model.safetensors and tokenizer.json, or a name on the hub.",
    )  # fmt: skip


def _hub_is_reachable() -> bool:
    """Return whether the hub can be reached. This check avoids a minute of retries without a network."""
    if huggingface_hub.constants.HF_HUB_OFFLINE or not getproxies().keys().isdisjoint({"https", "all"}):
        return not huggingface_hub.constants.HF_HUB_OFFLINE
    hub = urlsplit(huggingface_hub.constants.ENDPOINT)
    try:
        socket.create_connection((hub.hostname or "", hub.port or 443), timeout=3).close()
    except OSError:
        return False
    return True


def _refuse_another_kind(place: str, kind: Kind, model: Any, loading: Any, tokenizer: Any) -> None:
    for problem in ("missing_keys", "mismatched_keys"):
        if keys := sorted(map(str, loading[problem])):
            raise ModelError(
                place, f"{len(keys)} weights missing or of another shape, among them {keys[0]}",
                f"all weights of a {kind} language model", "Check that the checkpoint is complete and has a language-model head.",
            )  # fmt: skip
    if other_heads := [name for name in model.config.architectures or [] if _OTHER_HEADS.search(name)]:
        raise ModelError(
            place, f"weights of {other_heads[0]}", f"the weights of a {kind} language model",
            "The model was trained with another head, so its language-model head would be untrained.",
        )  # fmt: skip
    if not tokenizer.is_fast:
        raise ModelError(place, "a tokenizer without character positions", "a fast tokenizer (tokenizer.json)")
    if set(tokenizer.get_vocab().values()) <= set(tokenizer.added_tokens_decoder):
        # If there is no tokenizer, transformers makes an empty one for some architectures without a warning.
        raise ModelError(place, "a tokenizer with an empty vocabulary", "tokenizer.json beside the weights")


def fuse_gelu(model: Any) -> Any:
    """Replace GPT-2's GELU, which takes seven operations, with a single operation that is ten times as fast."""
    for module in list(model.modules()):
        for name, child in module.named_children():
            if type(child) is transformers.activations.NewGELUActivation:
                setattr(module, name, torch.nn.GELU(approximate="tanh"))
    return model


def first_line(error: Exception) -> str:
    """Return the first line of an error's message."""
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)[:300]


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Silence progress bars and warnings of transformers during the block; errors are still shown."""
    logging: Any = transformers.utils.logging
    level = logging.get_verbosity()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        logging.enable_progress_bar()
