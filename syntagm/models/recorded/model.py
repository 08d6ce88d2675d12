"""Replay a file of surprisals: any model's numbers, without the model.

`recorded:FILE` reads what `syntagm export --as tokens` writes: a CSV with a row per token, columns `index`, `start`,
`token`, `bits`, and (optional) `known`, `model`, `suite`, `item`, `condition`; rows of one sentence stand together and
`index` begins anew at 0. The tokens of a sentence, joined, are its text.

Where the column `model` names a model of a family that sees both sides of a token, the options `sides` and `regions` are known
from there.
"""

import hashlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from syntagm.answers import Surprisals
from syntagm.errors import InputError, ModelError
from syntagm.io import csv, utf8
from syntagm.models import families
from syntagm.models.contract import LanguageModel
from syntagm.models.recorded.family import FAMILY

_NEEDED = ("index", "start", "token", "bits")


class Recorded(LanguageModel):
    """Answers read from a file; a text that is not in it is refused."""

    worth_caching = False

    def __init__(
        self, answers: dict[str, Surprisals], name: str, fingerprint: str, bos: bool, seen: Mapping[str, str]
    ) -> None:
        self._answers, self.name, self.fingerprint = answers, name, fingerprint
        self.bos = "as recorded" if bos else None
        sides, regions = seen.get("sides"), seen.get("regions")
        self.settings = FAMILY.scoring_settings({"bos": "yes" if bos else "no"}, sides=sides, regions=regions)
        self.sees = "both" if seen else "left"
        self.record = {"sentences": len(answers)}

    def score(self, texts: Sequence[str], done: Callable[[int], None] | None = None) -> Iterator[Surprisals]:
        """The recorded surprisals of each text.

        Raises:
            ModelError: a text is not in the file.
        """
        for text in texts:
            if text not in self._answers:
                raise ModelError(
                    self.name, f"nothing recorded for {text!r}", f"one of {len(self._answers):,} sentences"
                )
            yield self._answers[text]
            if done:
                done(1)


def load(path: str, **options: str) -> Recorded:
    """The surprisals in the CSV file `path`.

    Raises:
        ModelError: the file can't be read, or says two things of one text.
    """
    chosen = FAMILY.choose(options)
    bos = chosen["bos"] == "yes"
    try:
        content = utf8.whole(Path(path), limit=None)
        text = utf8.decoded(content, Path(path))
        answers = _answers(path, _rows(path, text, options.get("model")))
        seen = _seen(options, _model(path, text, options))
    except InputError as error:
        raise ModelError(f"recorded:{error.place}", error.found, error.expected, error.cure) from error
    unscored = sum(len(answer.bits) > 0 and math.isnan(answer.bits[0]) for answer in answers.values())
    if bos and answers and unscored == len(answers):
        raise ModelError(
            f"recorded:{path}", "no first token has a surprisal", "bits for first tokens",
            "If nothing stood before them, say so: add ?bos=no to the name.",
        )  # fmt: skip
    digest = hashlib.sha256(content).hexdigest()
    options = {**options, **seen}
    name = FAMILY.canonical(f"{Path(path).name}@{digest[:8]}", options)
    return Recorded(
        answers, name, hashlib.sha256(f"recorded 1|{sorted(options.items())}|{digest}".encode()).hexdigest(), bos, seen
    )


def _model(path: str, text: str, options: Mapping[str, str]) -> str:
    """The name of the recorded model, "" if the file doesn't say."""
    return options.get("model") or next((row for _, row in csv.records(text, Path(path), limit=None)), {}).get(
        "model", ""
    )


def _seen(options: Mapping[str, str], model: str) -> dict[str, str]:
    """Policies of a model that saw both sides of a token, by the options or by its name; none of any other model."""
    family, said = families.of_model(model), model.partition("?")[2].split("&")
    both = (family is not None and family.sees == "both") or "sides=both" in said
    sides = options.get("sides", "both" if both else "left")
    regions = options.get("regions", "yes" if "regions=yes" in said else "no")
    return {"sides": sides, "regions": regions} if sides == "both" else {}


def _answers(path: str, rows: Iterator[tuple[int, dict[str, str]]]) -> dict[str, Surprisals]:
    answers: dict[str, Surprisals] = {}
    for line, answer in _sentences(path, rows):
        earlier = answers.setdefault(answer.text, answer)
        if earlier is not answer and not _same(earlier, answer):
            raise ModelError(
                f"recorded:{path}, line {line}", f"other tokens or bits for {answer.text!r} than before",
                "one answer a text",
            )  # fmt: skip
    return answers


def _same(one: Surprisals, other: Surprisals) -> bool:
    return np.array_equal(one.starts, other.starts) and np.allclose(
        one.bits, other.bits, rtol=0, atol=1e-4, equal_nan=True
    )


def _rows(path: str, text: str, model: str | None) -> Iterator[tuple[int, dict[str, str]]]:
    models = set()
    for line, row in csv.records(text, Path(path), _NEEDED, limit=None):
        if model is None or row.get("model") == model:
            models.add(row.get("model"))
            yield line, row
    if len(models) > 1:
        raise ModelError(f"recorded:{path}", f"{len(models)} models", "one", "Say which: add ?model=NAME to the name.")
    if not models:
        raise ModelError(f"recorded:{path}", "no tokens" + (f" of model {model!r}" if model else ""), "at least one")


def _sentences(path: str, rows: Iterator[tuple[int, dict[str, str]]]) -> Iterator[tuple[int, Surprisals]]:
    sentence: list[tuple[int, str, float, bool]] = []
    line = 0
    for line, row in rows:
        try:
            index, token = (
                int(row["index"]),
                (int(row["start"]), row["token"], float(row["bits"]), row.get("known", "1") != "0"),
            )
        except ValueError as error:
            raise ModelError(f"recorded:{path}, line {line}", str(error), "whole numbers and bits") from None
        if index == 0 and sentence:
            yield line, _answer(path, line, sentence)
            sentence = []
        if index != len(sentence):
            raise ModelError(f"recorded:{path}, line {line}", f"index {index}", str(len(sentence)))
        sentence.append(token)
    if sentence:
        yield line, _answer(path, line, sentence)


def _answer(path: str, line: int, sentence: list[tuple[int, str, float, bool]]) -> Surprisals:
    starts, tokens, bits, known = zip(*sentence, strict=True)
    text = "".join(tokens)
    expected = np.cumsum([0, *map(len, tokens)])[:-1]
    # Tokens that share characters share a start, and only the last of them shows the characters.
    if not (np.array(starts) == expected).all():
        raise ModelError(
            f"recorded:{path}, line {line}", f"starts {list(starts)} of {text!r}", f"{expected.tolist()}",
            "Tokens carry the white space before them.",
        )  # fmt: skip
    return Surprisals(text, np.array(starts, np.int32), np.array(bits), np.array(known, bool))
