"""Replay of recorded surprisals from a file.

`recorded:FILE` reads the output of `syntagm export --as tokens`: a CSV file with one row per token and the columns `index`,
`start`, `token`, `bits`, and (optional) `known`, `model`, `suite`, `item`, `condition`. The rows of a sentence are
consecutive, with `index` counting from 0. The tokens of a sentence, joined, are its text.

It also reads what `lm-zoo get-surprisals` writes: `sentence_id`, `token_id`, `token`, `surprisal`, between tabs, in bits. If
all first tokens have 0 bits, they were not scored, and the default is `bos=no`. Tokens are those of a byte-level tokenizer if
any has its sign for a space, of SentencePiece if any begins with its sign, and otherwise words, between which a space is put;
`<eos>`, which ends a sentence and is no word of it, is left out.

The options `sides`, `regions`, `exact` and `boundary` follow from the column `model`, if it names a model of a family that sees
both sides of a token, of an approximate one, or one with `boundary=word`.
"""

import codecs
import hashlib
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl

import numpy as np

from syntagm.core import InputError, ModelError, csv, utf8
from syntagm.models import families, possible
from syntagm.models.answers import InContext, Surprisals
from syntagm.models.contract import LanguageModel, Sees
from syntagm.models.hugging_face.tokens import BYTES
from syntagm.models.recorded.family import FAMILY

# A recording of all of BLiMP has a tenth of this.
MAX_BYTES = 2**32
_NEEDED = ("index", "start", "token", "bits")
_LM_ZOO = ["sentence_id", "token_id", "token", "surprisal"]


class Recorded(LanguageModel):
    """A model that reads its answers from a file and refuses texts that are not in it."""

    worth_caching = False

    def __init__(self, answers: dict[str, Surprisals], name: str, fingerprint: str, stated: "_Stated") -> None:
        self._answers, self.name, self.fingerprint = answers, name, fingerprint
        self.bos = "as recorded" if stated.settings["bos"] == "yes" else None
        self.settings, self.sees, self.exact = stated.settings, stated.sees, stated.exact
        self.record = {"sentences": len(answers)}

    def score(self, texts: Sequence[str], done: Callable[[int], None] | None = None) -> Iterator[Surprisals]:
        for text in texts:
            if text not in self._answers:
                raise ModelError(
                    self.name, f"nothing recorded for {text!r}", f"one of the {len(self._answers):,} recorded sentences"
                )
            yield self._answers[text]
            if done:
                done(1)

    def read(
        self, texts: Sequence[str], overlap: int | None = None, done: Callable[[int], None] | None = None
    ) -> Iterator[InContext]:
        """Raise ModelError, because a recording does not contain the contexts of its tokens."""
        raise ModelError(
            self.name, "recorded surprisals, whose contexts are not known", "a model that computes surprisals",
            "The file itself has a row per token.",
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Stated:
    """What the options and the name of the recorded model state of its numbers; see `possible.Stated`."""

    settings: Mapping[str, str]
    sees: Sees
    exact: bool
    numerical_error: float = 0.0


def check(name: str, path: str, chosen: Mapping[str, str]) -> None:
    try:
        utf8.beginning(Path(path), 1)
    except InputError as error:
        raise _refusal(error) from error


def load(path: str, **options: str) -> Recorded:
    try:
        content = utf8.whole(Path(path), MAX_BYTES)
        text = utf8.decoded(content, Path(path))
        of_zoo = list(_of_lm_zoo(path, text)) if text.partition("\n")[0].strip().split("\t") == _LM_ZOO else None
        if of_zoo and all(row["bits"] == "nan" for _, row in of_zoo if row["index"] == "0"):
            options = {"bos": "no", **options}
        chosen = FAMILY.choose(options)
        derived = _derived(options, _model(path, text, options) if of_zoo is None else "")
        both_sides = derived.get("sides") == "both"
        resolved = {name: derived.get(name) for name in ("sides", "regions", "exact", "boundary")}
        settings = FAMILY.scoring_settings({"bos": chosen["bos"]}, **resolved)
        stated = _Stated(settings, "both" if both_sides else "left", derived.get("exact") != "no")
        records = csv.records(text, Path(path), _NEEDED, limit=None, blanks=True) if of_zoo is None else of_zoo
        answers = _answers(path, _rows(path, records, options.get("model")), stated)
    except InputError as error:
        raise _refusal(error) from error
    unscored = sum(len(answer.bits) > 0 and math.isnan(answer.bits[0]) for answer in answers.values())
    if chosen["bos"] == "yes" and answers and unscored == len(answers):
        raise ModelError(
            f"recorded:{path}", "no first token has a surprisal", "bits for first tokens",
            "If the model had no start-of-text symbol, add ?bos=no to the name.",
        )  # fmt: skip
    digest = hashlib.sha256(content).hexdigest()
    options = {**options, **derived}
    name = FAMILY.canonical(f"{Path(path).name}@{digest[:8]}", options)
    fingerprint = hashlib.sha256(f"recorded 1|{sorted(options.items())}|{digest}".encode()).hexdigest()
    return Recorded(answers, name, fingerprint, stated)


def _refusal(error: InputError) -> ModelError:
    return ModelError(f"recorded:{error.place}", error.found, error.expected, error.cure)


def _model(path: str, text: str, options: Mapping[str, str]) -> str:
    """Return the name of the recorded model; "" if the file has none."""
    _, row = next(csv.records(text, Path(path), limit=None, blanks=True), (0, dict[str, str]()))
    return options.get("model") or row.get("model", "")


def _derived(options: Mapping[str, str], model: str) -> dict[str, str]:
    """Return the scoring settings that the options or the name of the recorded model state; those of most models are empty."""
    family, model_options = families.of_model(model), dict(parse_qsl(model.partition("?")[2]))
    both = family is not None and family.seen(model_options) == "both"
    sides = options.get("sides", "both" if both else "left")
    regions = options.get("regions", "yes" if model_options.get("regions") == "yes" else "no")
    derived = {"sides": sides, "regions": regions} if sides == "both" else {}
    approximate = (family is not None and not family.exact) or model_options.get("exact") == "no"
    if options.get("exact", "no" if approximate else "yes") == "no":
        derived["exact"] = "no"
    if options.get("boundary", "word" if model_options.get("boundary") == "word" else "token") == "word":
        derived["boundary"] = "word"
    return derived


def _answers(path: str, rows: Iterator[tuple[int, dict[str, str]]], stated: _Stated) -> dict[str, Surprisals]:
    answers: dict[str, Surprisals] = {}
    for line, answer in _sentences(path, rows):
        if problem := possible.fault(answer, stated):
            raise ModelError(
                f"recorded:{path}, line {line}", f"{problem.found}, in {answer.text[:100]!r}", problem.expected,
                "If they are upper bounds, as in a beam search, add ?exact=no to the name; if words are corrected for where they "
                "end, ?boundary=word.",
            )  # fmt: skip
        earlier = answers.setdefault(answer.text, answer)
        if earlier is not answer and not _same(earlier, answer):
            raise ModelError(
                f"recorded:{path}, line {line}", f"other tokens or bits for {answer.text!r} than before",
                "the same surprisals for the same text",
            )  # fmt: skip
    return answers


def _same(first: Surprisals, second: Surprisals) -> bool:
    return np.array_equal(first.starts, second.starts) and np.allclose(
        first.bits, second.bits, rtol=0, atol=1e-4, equal_nan=True
    )


def _of_lm_zoo(path: str, text: str) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the rows of a file of lm-zoo with the columns of ours."""
    rows = list(csv.rows(text, Path(path), "\t", quote=False, limit=None, blanks=True))[1:]
    rows = [(line, row) for line, row in rows if row[2:3] != ["<eos>"]]
    if wrong := next((line for line, row in rows if len(row) != len(_LM_ZOO)), 0):
        raise InputError(f"{path}, line {wrong}", "a row with other cells", "\t".join(_LM_ZOO))
    is_bytes = any("Ġ" in row[2] for _, row in rows)
    is_pieces = any(row[2].startswith("▁") for _, row in rows)
    first = [place for place, (_, row) in enumerate(rows) if place == 0 or rows[place - 1][1][0] != row[0]]
    unscored = {*first} if not any(rows[place][1][3].strip("0.") for place in first) else set[int]()
    index = start = 0
    for place, (line, (_, _, token, bits)) in enumerate(rows):
        if place in first:
            index = start = 0
            decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        if is_bytes:
            token = decode(bytes(map(BYTES.__getitem__, token))) if BYTES.keys() >= {*token} else token
        else:
            token = token.replace("▁", " ") if is_pieces else f" {token}"
            token = token if index else token.lstrip(" ")
        bits = "nan" if place in unscored else bits
        yield line, {"index": str(index), "start": str(start), "token": token, "bits": bits}
        index, start = index + 1, start + len(token)


def _rows(
    path: str, records: Iterable[tuple[int, dict[str, str]]], model: str | None
) -> Iterator[tuple[int, dict[str, str]]]:
    models = set()
    for line, row in records:
        if model is None or row.get("model") == model:
            models.add(row.get("model"))
            yield line, row
    if len(models) > 1:
        raise ModelError(
            f"recorded:{path}", f"{len(models)} models", "one", "Add ?model=NAME to the name to choose one."
        )
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
            found = ", ".join(f"{name} {row[name]!r}" for name in ("index", "start", "bits"))
            expected = "whole numbers in index and start, and a number in bits"
            raise ModelError(f"recorded:{path}, line {line}", found, expected) from error
        if index == 0 and sentence:
            yield line, _answer(path, line, sentence)
            sentence = []
        if index != len(sentence):
            raise ModelError(f"recorded:{path}, line {line}", f"index {index}", str(len(sentence)))
        sentence.append(token)
    if sentence:
        yield line, _answer(path, line, sentence)


def _answer(path: str, line: int, sentence: list[tuple[int, str, float, bool]]) -> Surprisals:
    starts, tokens, bits, in_vocabulary = zip(*sentence, strict=True)
    text = "".join(tokens)
    expected = np.cumsum([0, *map(len, tokens)])[:-1]
    # Tokens that share characters have the same start; only the last of them shows the characters.
    if not (np.array(starts) == expected).all():
        raise ModelError(
            f"recorded:{path}, line {line}", f"token starts {list(starts)} in {text!r}", f"{expected.tolist()}",
            "White space belongs to the token that follows it.",
        )  # fmt: skip
    # Adding 0.0 turns -0.0 into 0.0.
    return Surprisals(text, np.array(starts, np.int32), np.array(bits) + 0.0, np.array(in_vocabulary, bool))
