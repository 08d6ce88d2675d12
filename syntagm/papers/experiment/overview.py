"""Tables of what a training study compares: its texts (as Table 1 of Hu et al. 2020) and its models (as their Table 3)."""

from collections.abc import Iterator
from math import prod
from pathlib import Path

from syntagm.core import regular
from syntagm.papers.experiment import design as places
from syntagm.training import record as training
from syntagm.views import Cell, Table

# The columns of the subsets of the corpus, of which each sample has its own.
_PART = ("size", "sample")


def tables(folder: Path) -> Iterator[tuple[str, Table]]:
    finished = [model for model, _ in places.finished_models(folder)]
    part = [name for name in _PART if name != "sample" or any(model["sample"] > 1 for model in finished)]
    texts: dict[tuple[Cell, ...], list[str]] = {}
    models: dict[tuple[Cell, ...], int] = {}
    for model in finished:
        place, family = places.model_folder(folder, places.cell_of(model)), model["family"]
        trained = training.finished(place) or {}
        key = tuple(model[name] for name in part)
        # GPT-2s have none, nor have models that were trained before it was recorded.
        if "unknown_classes" in trained:
            counts = (trained[name] for name in ("sentences", "words", "types", "unknown_classes"))
            unseen = (sum(trained["unseen_classes"].values()), sum(model.get("unseen_classes", {}).values()))
            sharing = texts.setdefault((*key, *counts, *unseen), [])
            sharing += [] if family in sharing else [family]
        vocabulary = trained.get("vocabulary", trained.get("text", {}).get("vocabulary"))
        of_model = (family, *key, parameters(place), vocabulary)
        models[of_model] = models.get(of_model, 0) + 1
    if texts:
        counted = ("sentences", "tokens", "types", "unknown_types", "unseen_in_valid", "unseen_in_test")
        columns: tuple[str, ...] = (*part, *counted, "families")
        rows = [(*row, ", ".join(families)) for row, families in texts.items()]
        yield "texts", Table("Training texts", columns, tuple(rows), (), _TEXTS)
    if models:
        columns = ("family", *part, "parameters", "vocabulary", "models")
        rows = [(*row, count) for row, count in models.items()]
        yield "parameters", Table("Sizes of the models", columns, tuple(rows), (), _MODELS)


_TEXTS = (
    "tokens: words as the models read them, without ends of sentences. types: different words that are known. "
    "unknown_types: classes of unknown words that occur. One row for each way of counting, with the families that share it.",
    "unseen_in_valid, unseen_in_test: words of the held-out and the test text whose class of unknown words does not occur "
    "in training, so that they are scored as a wider class. The study of Hu et al. 2020 had none.",
    "Not listed: models over byte pairs, which have no unknown words, and gpt2-words, for which these are not counted.",
)
_MODELS = (
    "parameters: floating-point numbers in the weights; a matrix that is used twice counts once. Those of an n-gram model are "
    "the probabilities and back-off weights of its n-grams.",
    "vocabulary: words, classes of unknown words and symbols; of models over byte pairs, tokens. models: their number.",
)


def parameters(folder: Path) -> int:
    """Count the floating-point numbers in the weights of a model."""
    from safetensors import safe_open

    total = 0
    for path in folder.glob("*.safetensors"):
        with safe_open(regular.checked(path), framework="np") as file:
            stored = (file.get_slice(name) for name in file.keys())  # noqa: SIM118 (it is no mapping)
            total += sum(prod(part.get_shape()) for part in stored if "F" in part.get_dtype())
    return total
