"""Adapters of the package PEFT: adding one to its base model."""

import warnings
from pathlib import Path
from typing import Any

import torch

from syntagm.core import ModelError, UsageError, extras, hashing, hub, json
from syntagm.models.device import FullPrecision
from syntagm.models.hugging_face.foreign import is_foreign, one_error
from syntagm.models.hugging_face.location import CONFIG, WEIGHTS
from syntagm.models.hugging_face.unsafe import PICKLE

_TASKS = (None, "CAUSAL_LM", "FEATURE_EXTRACTION")
# Settings whose texts, or keys, PEFT compares with each layer; and the most that it is asked to compare.
_PATTERNS = (
    "target_modules", "exclude_modules", "feedforward_modules", "modules_to_save", "layers_pattern", "rank_pattern",
    "alpha_pattern", "target_parameters",
)  # fmt: skip
_MOST_NAMES = 10_000


def digest(folder: Path) -> str:
    """Return a hash of the configuration and the weights of an adapter."""
    files = [folder / name for name in (CONFIG, *WEIGHTS) if (folder / name).is_file()]
    return hashing.of_text("".join(f"{file.name}|{hashing.of_file(file)}|" for file in files))


def attach(place: str, model: Any, folder: Path, merged: bool, pickle: bool) -> Any:
    """Add an adapter to its base model."""
    settings = _checked(place, folder, pickle)
    import peft

    quantised = getattr(model, "is_quantized", False)
    if merged and quantised:
        raise UsageError(
            "model option adapter", "merged, but the weights of the base model are quantised", "separate",
            "Merging would round the sum of both to the quantised weights.",
        )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            config = peft.PeftConfig.from_pretrained(str(folder))
            config.inference_mode = True
            tuned: Any = peft.PeftModel(model, config, autocast_adapter_dtype=False)
            loading = tuned.load_adapter(str(folder), "default", torch_device="cpu", autocast_adapter_dtype=False)
        except Exception as error:  # peft raises exceptions of many types
            if not is_foreign(error):
                raise
            found = next((line.strip() for line in str(error).splitlines() if "mismatch" in line), str(error))
            raise ModelError(
                place, f"the adapter {folder} does not fit the base model: {found.strip()[:300]}",
                f"an adapter of {settings.get('base_model_name_or_path') or 'this base model'}",
                "Name the base model that the adapter was trained with: BASE+ADAPTER.",
            ) from error  # fmt: skip
        for problem, keys in (("lacks", loading.missing_keys), ("has no place for", loading.unexpected_keys)):
            if keys:
                raise ModelError(
                    place, f"{len(keys)} weights that {folder} {problem}, among them {sorted(keys)[0]}",
                    "the weights that adapter_config.json describes", "Check that both files are of one adapter.",
                )  # fmt: skip
        tuned = tuned.to(model.device).eval() if not quantised else tuned.eval()
        inner = tuned.get_base_model()
        _refuse_other_numbers(place, tuned, inner, settings)
        if merged:
            with one_error(f"{place}, merging {settings['peft_type']}", "adapter=separate"), FullPrecision():
                inner = tuned.merge_and_unload(safe_merge=True)
    return inner.eval()


def _checked(place: str, folder: Path, pickle: bool) -> dict[str, Any]:
    """Return the configuration of an adapter, if its kind is supported and its weights may be loaded."""
    settings = json.record(folder / CONFIG, ModelError, "the configuration of an adapter", hub.again(folder / CONFIG))
    with extras.needed(place, ModelError, what="an adapter"):
        import peft
    for name in _PATTERNS:
        if isinstance(value := settings.get(name), list | dict) and len(value) > _MOST_NAMES:
            raise ModelError(str(folder / CONFIG), f"{len(value):,} entries in {name}", f"at most {_MOST_NAMES:,}")
    kinds = {str(getattr(kind, "value", kind)): config for kind, config in peft.PEFT_TYPE_TO_CONFIG_MAPPING.items()}
    kind = settings.get("peft_type")
    if not isinstance(kind, str) or kind not in kinds:
        raise ModelError(
            str(folder / CONFIG), f"peft_type {kind!r}", "one of " + ", ".join(sorted(kinds)),
            f"Is it of a newer version of peft? Here it is {peft.__version__}.",
        )  # fmt: skip
    if issubclass(kinds[kind], peft.PromptLearningConfig) or settings.get("alora_invocation_tokens"):
        raise ModelError(
            place, f"an adapter of the kind {kind} that depends on tokens before the text", "an adapter of weights, such as LORA",
            "Its virtual or invocation tokens would be part of every context.",
        )  # fmt: skip
    if settings.get("task_type") not in _TASKS:
        raise ModelError(
            place,
            f"an adapter for {settings['task_type']}",
            "one for a language model",
            "It was trained with another head.",
        )
    if not (folder / WEIGHTS[0]).is_file():
        if not (folder / WEIGHTS[1]).is_file():
            raise ModelError(
                str(folder), f"no {WEIGHTS[0]}", "the weights of the adapter", hub.again(folder / WEIGHTS[0])
            )
        if not pickle:
            raise ModelError(
                str(folder), f"only pickled weights ({WEIGHTS[1]})", WEIGHTS[0],
                PICKLE,
            )  # fmt: skip
    return settings


@torch.inference_mode()
def _refuse_other_numbers(place: str, tuned: Any, inner: Any, settings: dict[str, Any]) -> None:
    """Refuse an adapter that works only inside the class of peft, whose layers are not those of the model itself."""
    tokens = torch.arange(4, device=inner.device)[None]
    if not torch.equal(tuned(input_ids=tokens).logits, inner(input_ids=tokens).logits):
        raise ModelError(
            place, f"an adapter of the kind {settings['peft_type']}, which changes more than layers",
            "an adapter whose layers are part of the model, such as LORA",
        )  # fmt: skip


def tokenizer_folder(folder: Path) -> Path | None:
    """Return the folder of an adapter if the adapter comes with a tokenizer of its own."""
    return folder if (folder / "tokenizer.json").is_file() else None


def version() -> str:
    import peft

    return str(peft.__version__)
