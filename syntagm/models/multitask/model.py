"""Word-level LSTMs with a second task, tagging, trained by `syntagm train multitask` (Marvin & Linzen 2018).

The name is `multitask:FOLDER`, or just the folder, which contains `model.json`, `model.safetensors` and `vocabulary.txt`. Its
language model scores texts like an LSTM; tags play no part in surprisals.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from syntagm.errors import ModelError
from syntagm.models.device import device
from syntagm.models.family import Family
from syntagm.models.lstm.model import CHECKS
from syntagm.models.multitask.family import FAMILY
from syntagm.models.multitask.network import HEADS, Network
from syntagm.models.recurrent.model import RecurrentModel
from syntagm.models.words import vocabulary, weights
from syntagm.models.words.vocabulary import Vocabulary

FORMAT = 1


class Multitask(RecurrentModel):
    """An LSTM with its vocabulary and its tags."""

    family: ClassVar[Family] = FAMILY
    scorer: ClassVar[str] = "multitask 1"
    network: Network

    def __init__(
        self, network: Network, vocabulary: Vocabulary, tokens: str, label: str, options: Mapping[str, str],
        tags: Sequence[str],
    ) -> None:  # fmt: skip
        super().__init__(network, vocabulary, tokens, label, options)
        self.tags = tuple(tags)
        self.record = {**self.record, "tags": len(self.tags)}


def load(path: str, **options: str) -> Multitask:
    """Load an LSTM with tags from its folder.

    Raises:
        UsageError: an option is invalid.
        ModelError: the folder was not written by `syntagm train multitask`, or is damaged.
    """
    chosen = FAMILY.choose(options)
    folder, label = weights.opened(path)
    checks: dict[str, Callable[[Any], bool]] = CHECKS | {"head": lambda value: value in HEADS, "tags": _are_tags}
    sizes = weights.described(folder / "model.json", "multitask", FORMAT, checks)
    words = vocabulary.read(folder / "vocabulary.txt")
    if sizes["head"] == "shared" and len(sizes["tags"]) > len(words):
        found = f"{len(sizes['tags']):,} tags for {len(words):,} words"
        raise ModelError(str(folder / "model.json"), found, "no more tags than words, which share an output layer")

    def built() -> Network:
        return Network(
            len(words), sizes["embedding"], sizes["hidden"], sizes["layers"], len(sizes["tags"]), sizes["head"],
            tied=sizes["tied"],
        )  # fmt: skip

    network = weights.read(folder / "model.safetensors", sizes["layers"], built)
    network.to(device(chosen["device"]))
    return Multitask(network, words, sizes["tokens"], label, options, sizes["tags"])


def _are_tags(value: object) -> bool:
    return isinstance(value, list) and len(value) > 0 and all(isinstance(tag, str) and tag for tag in value)
