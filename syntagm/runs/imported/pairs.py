"""Pairs of sentences with what another tool says of them, and the run that they make."""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from syntagm.core import InputError, Progress, UsageError, registry, utf8
from syntagm.evaluation import FULL, Sum, Sums
from syntagm.models import LanguageModel
from syntagm.runs.engine import execute
from syntagm.runs.store import Run
from syntagm.suites import HEAD, Item, Prediction, Sentence, Suite, answers_of, parse

PREDICTION = Prediction(FULL, parse("(*;%good%) < (*;%bad%)"))
_LABEL = re.compile(r"[\w.\-/]{1,100}")


@dataclass(frozen=True, slots=True)
class Pair:
    """A pair as a tool reports it."""

    suite: str  # `suite`, `item`: the name of its suite, and its id
    item: str
    good: str  # `good`, `bad`: the sentences
    bad: str
    sums: Sum  # what the tool says of them


class Tool(LanguageModel):
    """The model that another tool has asked, in the place of a model. It can't be asked again."""

    worth_caching = False

    def __init__(self, tool: str, label: str, fingerprint: str) -> None:
        self.name, self.fingerprint, self.record = f"{tool}:{label}", fingerprint, {"imported from": tool}
        self.sees, self.settings = "both", {}

    def score(self, texts: Sequence[str], done: Any = None) -> Iterator[Any]:
        """Refuse: there are only sums of sentences."""
        raise UsageError(self.name, "results of another tool, without a model", "a language model")


def tools() -> list[str]:
    """Return the names of the tools whose results can be imported.

    >>> tools()
    ['babylm', 'lm-eval', 'minicons']
    """
    return sorted(name.replace("_", "-") for name in registry.names("runs.imported") if name != "pairs")


def import_results(
    tool: str,
    files: Sequence[str | Path],
    folder: str | Path | None,
    label: str,
    suites: Sequence[Suite] = (),
    progress: Progress | None = None,
    command: str = "",
) -> Run:
    # `suites` are those that were asked. A tool whose files lack the sentences needs them; otherwise, a suite with the
    # same name and sentences takes the place of that of the file, so that the run can be compared with others of this
    # suite.
    if tool not in (known := tools()):
        raise UsageError("import-results", repr(tool), "one of " + ", ".join(known))
    if not _LABEL.fullmatch(label):
        raise UsageError("--label", repr(label), "letters, digits, '_', '.', '-' and '/', at most 100")
    for file in map(Path, files):
        if program := answers_of(utf8.beginning(file, HEAD).decode(errors="replace")):
            cure = "What people answered to an experiment of Syntagm's is imported by `syntagm experiment import`."
            raise InputError(str(file), f"raw results of {program}", f"results of {tool}", cure)
    pairs = list(registry.find("runs.imported", tool.replace("-", "_")).read([Path(file) for file in files], suites))
    if not pairs:
        raise InputError(", ".join(map(str, files[:3])), "no pairs", "results of at least one pair")
    made, sums = _suites(pairs, {suite.name: suite for suite in suites})
    content = hashlib.sha256(repr(pairs).encode()).hexdigest()
    model = Tool(tool, label, hashlib.sha256(f"imported 1|{tool}|{label}|{content}".encode()).hexdigest())
    return execute(Sums(tool, sums), model, made, folder, progress=progress, command=command)


def _suites(pairs: Iterable[Pair], known: Mapping[str, Suite]) -> tuple[list[Suite], dict[str, list[Sum]]]:
    by_suite: dict[str, list[Pair]] = {}
    for pair in pairs:
        by_suite.setdefault(pair.suite, []).append(pair)
    made = [_suite(name, own, known.get(name)) for name, own in by_suite.items()]
    return made, {name: [pair.sums for pair in own] for name, own in by_suite.items()}


def _suite(name: str, pairs: Sequence[Pair], known: Suite | None) -> Suite:
    """Return the suite of some pairs; that which was given if it has the same sentences."""
    sentences = [{"good": pair.good, "bad": pair.bad} for pair in pairs]
    if known:
        asked = [{condition: each.text for condition, each in item.sentences.items()} for item in known.items]
        if asked == sentences:
            return known
        expected = f"the {len(asked):,} pairs of this suite, in its order"
        raise InputError(f"suite {name}", f"{len(sentences):,} pairs of other sentences in the results", expected)
    items = [
        Item(pair.item, {key: Sentence(text) for key, text in own.items()}, {})
        for pair, own in zip(pairs, sentences, strict=True)
    ]
    return Suite(name, tuple(items), (PREDICTION,), {})
