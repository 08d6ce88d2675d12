"""The word-exact join of what was shown with what was scored.

Words are joined by text and position, and only equal words are. Differences are tolerated only as declared: in quotation
marks, dashes and case, or between two spellings that the user names. All others are listed, and these words have no
surprisal.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from math import log, nan

import numpy as np
import polars as pl

from syntagm.core import InputError, UsageError
from syntagm.reading_times.tables import Readings

TOLERANCES = ("quotes", "dashes", "case")
TEXTS = ("name", "order")
_QUOTES = str.maketrans(
    {"‘": "'", "’": "'", "‚": "'", "‛": "'", "`": "'", "´": "'", "“": '"', "”": '"', "„": '"', "«": '"', "»": '"'}
)
_DASHES = str.maketrans(dict.fromkeys("‐‑‒–—―−", "-"))


@dataclass(frozen=True, slots=True)
class Rules:
    """What the join tolerates."""

    tolerated: tuple[str, ...] = ()  # of `TOLERANCES`
    accepted: frozenset[tuple[str, str]] = frozenset()  # pairs of a word as shown and as scored that are one word
    texts: str = "name"  # whether texts are joined by `name`, or by `order` if the names differ

    def __post_init__(self) -> None:
        if unknown := [name for name in self.tolerated if name not in TOLERANCES]:
            raise UsageError("--tolerate", repr(unknown[0]), "one or more of " + ", ".join(TOLERANCES))
        if self.texts not in TEXTS:
            raise UsageError("--texts", repr(self.texts), "name or order")

    def same(self, shown: str, scored: str) -> bool:
        """Return whether two words are one.

        >>> Rules(("quotes", "dashes")).same("don’t–care", "don't-care"), Rules().same("The", "the")
        (True, False)
        """
        return shown == scored or self.normal(shown) == self.normal(scored) or (shown, scored) in self.accepted

    def normal(self, word: str) -> str:
        """Return a word without the differences that are tolerated."""
        word = word.translate(_QUOTES).replace("''", '"') if "quotes" in self.tolerated else word
        word = re.sub(r"--+", "-", word.translate(_DASHES)) if "dashes" in self.tolerated else word
        return word.casefold() if "case" in self.tolerated else word


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A place at which the shown and the scored words differ."""

    text: str  # `text`, `position`: where the word was shown; the position is None for a word that was only scored
    position: float | None
    shown: str  # `shown`, `scored`: the words; "" if there is none
    scored: str
    line: int  # the line of the file of times


@dataclass(frozen=True, slots=True)
class Joined:
    """The shown words with the numbers of the scored ones."""

    # A row per shown word: text, position, word, line, and the columns of scores (null where words differ).
    words: pl.DataFrame
    mismatches: tuple[Mismatch, ...]  # all places with different words, under any model
    matched: int  # the number of words with a score of every model
    notes: tuple[str, ...]  # sentences about the join


def with_texts(times: Readings) -> pl.DataFrame:
    """Return a table of reading times with a column `text`; without one, all is one text with the name ""."""
    return times.frame if "text" in times.frame.columns else times.frame.with_columns(text=pl.lit(""))


def beside(times: Readings, joined: Joined) -> pl.DataFrame:
    """Return a table of reading times with the scores of its words, in the columns that it lacks."""
    frame = with_texts(times)
    new = [name for name in joined.words.columns if name not in frame.columns]
    scores = joined.words.select("text", "position", *new)
    return frame.join(scores, on=["text", "position"], how="left", maintain_order="left")


def shown_words(times: Readings) -> pl.DataFrame:
    """Return the words that were shown: a row per text and position, in the order of texts in the file."""
    times.require("word", "position")
    frame = with_texts(times)
    extra = [name for name in ("language", "sentence", "region") if name in frame.columns]
    frame = frame.filter(pl.col("word").is_not_null() & pl.col("position").is_not_null() & pl.col("text").is_not_null())
    several = frame.group_by("text", "position", maintain_order=True).agg(
        pl.col("word").n_unique().alias("words"),
        pl.col("word").unique(maintain_order=True).alias("all"),
        pl.col("line").last(),
    )
    if (wrong := several.filter(pl.col("words") > 1)).height:
        row = wrong.row(0, named=True)
        found = f"{' and '.join(map(repr, row['all'][:3]))} at position {row['position']:g} of text {row['text']!r}"
        raise InputError(
            times.source.place_of_line(row["line"]),
            f"{found}, and {wrong.height - 1:,} more such places",
            "one word at each position of a text",
            "Name the columns that tell texts apart: --columns text=A+B; or correct the words.",
        )
    words = frame.select("text", "position", "word", *extra, "line").unique(
        ["text", "position"], keep="first", maintain_order=True
    )
    order = words.select(pl.col("text").unique(maintain_order=True)).with_row_index(":order")
    return words.join(order, on="text", how="left", maintain_order="left").sort(":order", "position").drop(":order")


def join(times: Readings, scores: Readings, rules: Rules) -> Joined:
    shown = shown_words(times)
    frame = scored(scores)
    if "text" not in frame.columns:
        frame = frame.with_columns(text=pl.lit(""))
    if "position" not in frame.columns:
        over = [name for name in ("model", "text") if name in frame.columns]
        frame = frame.with_columns(position=pl.int_range(pl.len()).over(over).cast(pl.Float64))
    models = frame["model"].unique(maintain_order=True).to_list() if "model" in frame.columns else [None]
    names = columns_of_models([str(model) for model in models]) if len(models) > 1 else {str(models[0]): ""}
    extra = [name for name in ("known", "entropy") if name in frame.columns]
    found, mismatches, notes = shown, list[Mismatch](), list[str]()
    matched, listed_before = np.ones(shown.height, np.bool_), set[Mismatch]()
    for model in models:
        own = frame if model is None else frame.filter(pl.col("model") == model)
        _refuse_doubled(own, scores)
        keyed, said = _keyed(shown, own, rules, times, scores)
        places, differing = _places(shown, keyed, rules)
        mismatches += [one for one in differing if one not in listed_before]
        listed_before |= set(differing)
        notes += [note for note in said if note not in notes]
        found_here = np.array([place is not None for place in places], np.bool_)
        if found_here.sum() < 0.5 * shown.height:
            raise _nothing_alike(times, scores, shown.height, int(found_here.sum()), differing)
        matched &= found_here
        taken = keyed.select("bits", *extra)
        columns = [
            pl.Series(f"{name}{names[str(model)]}", [None if at is None else values[at] for at in places])
            for name in taken.columns
            for values in [taken[name].to_list()]
        ]
        found = found.with_columns(columns)
    return Joined(found, tuple(mismatches), int(matched.sum()), tuple(notes))


def scored(scores: Readings) -> pl.DataFrame:
    """Return a row per scored word: text, position, word and bits, from a table of words or of tokens."""
    # Log-probabilities are natural ones. Tokens are joined to words if one of them begins with white space.
    frame = scores.frame
    if "bits" not in frame.columns:
        if "logprob" not in frame.columns:
            scores.require("bits")
        frame = frame.with_columns(bits=-pl.col("logprob") / log(2))
    if "word" in frame.columns or "token" not in frame.columns:
        scores.require("word")
        return frame
    if not frame["token"].fill_null("").str.contains(r"^\s").any():
        return frame.rename({"token": "word"})
    by = [name for name in ("model", "text") if name in frame.columns]
    parts = []
    for key, part in frame.group_by(by, maintain_order=True) if by else [((), frame)]:
        words = of_tokens(part["token"].fill_null("").to_list(), part["bits"].to_list())
        columns = {"position": list(map(float, range(len(words)))), "word": [word for word, _ in words]}
        own = pl.DataFrame(columns).with_columns(
            bits=pl.Series([bits for _, bits in words], dtype=pl.Float64).fill_nan(None)
        )
        parts.append(own.with_columns([pl.lit(value).alias(name) for name, value in zip(by, key, strict=True)]))
    return pl.concat(parts).with_columns(line=pl.lit(0))


def columns_of_models(models: Sequence[str]) -> dict[str, str]:
    """Return the endings of the columns of several models: plain names that R and formulas read without quotation marks.

    Raises:
        UsageError: two models have the same ending.

    >>> columns_of_models(["gpt2", "models/lstm?seed=1"])
    {'gpt2': '_gpt2', 'models/lstm?seed=1': '_models_lstm_seed_1'}
    """
    endings = {model: "_" + re.sub(r"\W+", "_", model).strip("_") for model in models}
    if len(set(endings.values())) < len(endings):
        raise UsageError("models", " and ".join(models[:4]), "names that differ in letters or digits")
    return endings


def _refuse_doubled(frame: pl.DataFrame, scores: Readings) -> None:
    twice = frame.filter(pl.struct("text", "position").is_duplicated())
    if twice.height:
        row = twice.row(0, named=True)
        raise InputError(
            scores.source.place_of_line(row["line"]), f"position {row['position']:g} of text {row['text']!r} twice",
            "each word once", "Does the table have several models? Name the column: --score-columns model=COLUMN.",
        )  # fmt: skip


def _keyed(
    shown: pl.DataFrame, frame: pl.DataFrame, rules: Rules, times: Readings, scores: Readings
) -> tuple[pl.DataFrame, list[str]]:
    """Give scored texts the names of the shown ones."""
    ours, theirs = (list(dict.fromkeys(table["text"].to_list())) for table in (shown, frame))
    if rules.texts == "name":
        if missing := [name for name in ours if name not in set(theirs)]:
            cure = (
                "Give --texts order if the n-th text of one file is the n-th of the other."
                if len(ours) == len(theirs)
                else "Score all texts, or name the column: --score-columns text=COLUMN."
            )
            raise InputError(
                str(scores.source.path), f"no text {missing[0]!r} ({len(missing):,} of {len(ours):,} shown texts are missing)",
                f"the texts of {times.source.path}", cure,
            )  # fmt: skip
        return frame, []
    if len(ours) != len(theirs):
        raise InputError("--texts order", f"{len(theirs):,} scored texts for {len(ours):,} shown ones", "as many")
    ordered = sorted(ours, key=_number) if any(map(str.isdecimal, ours)) else ours
    theirs = sorted(theirs, key=_number) if any(map(str.isdecimal, theirs)) else theirs
    named = dict(zip(theirs, ordered, strict=True))
    pairs = ", ".join(f"{ours} = {theirs}" for theirs, ours in list(named.items())[:3])
    note = f"texts are joined by order: {pairs}{', ...' if len(named) > 3 else ''}"
    return frame.with_columns(text=pl.col("text").replace_strict(named)), [note]


def _number(name: str) -> tuple[int, str]:
    return (int(name), "") if name.isdecimal() else (1 << 60, name)


def _places(shown: pl.DataFrame, scored: pl.DataFrame, rules: Rules) -> tuple[list[int | None], list[Mismatch]]:
    """Return the row of the score of each shown word, and the places that differ."""
    rows = scored.with_row_index(":row").sort("position", maintain_order=True)
    texts: dict[str, tuple[list[int], list[str], list[float]]] = {}
    for text, part in rows.group_by("text", maintain_order=True):
        texts[str(text[0])] = part[":row"].to_list(), part["word"].fill_null("").to_list(), part["position"].to_list()
    places: list[int | None] = []
    mismatches: list[Mismatch] = []
    for (text,), part in shown.group_by("text", maintain_order=True):
        words, positions, lines = part["word"].to_list(), part["position"].to_list(), part["line"].to_list()
        own, scored_words, scored_positions = texts.get(str(text), ([], [], []))
        chosen = _aligned(words, positions, scored_words, scored_positions, rules)
        used = set(chosen.values())
        for at, word in enumerate(words):
            other = chosen.get(at)
            fits = other is not None and rules.same(word, scored_words[other])
            places.append(own[other] if other is not None and fits else None)
            if not fits:
                mismatches.append(
                    Mismatch(
                        str(text), positions[at], word, scored_words[other] if other is not None else "", lines[at]
                    )
                )
        if len(words) >= len(scored_words) * 0.9:
            # A text that was shown as a whole: scored words that nobody saw are listed, too.
            mismatches += [
                Mismatch(str(text), None, "", word, 0)
                for at, word in enumerate(scored_words)
                if at not in used and word
            ]
    return places, mismatches


def _aligned(
    words: Sequence[str], positions: Sequence[float], scored: Sequence[str], places: Sequence[float], rules: Rules
) -> dict[int, int]:
    """Return the scored word of each shown one, by positions where they lead to equal words, or else by the order of words."""
    at = {position: number for number, position in enumerate(places)}
    best: dict[int, int] = {}
    right = -1
    for shift in (0, 1, -1):
        chosen = {number: at[position - shift] for number, position in enumerate(positions) if position - shift in at}
        same = sum(rules.same(words[number], scored[other]) for number, other in chosen.items())
        if same > right:
            best, right = chosen, same
    if right >= 0.8 * len(words) and len(best) == len(words):
        return best
    normal, others = [rules.normal(word) for word in words], [rules.normal(word) for word in scored]
    matcher = SequenceMatcher(None, normal, others, autojunk=False)
    found: dict[int, int] = {}
    for _, low, high, first, last in matcher.get_opcodes():
        found |= dict(zip(range(low, high), range(first, last), strict=False))
    same = sum(rules.same(words[number], scored[other]) for number, other in found.items())
    return found if same > right else best


def _nothing_alike(
    times: Readings, scores: Readings, count: int, matched: int, differing: Sequence[Mismatch]
) -> InputError:
    first = next((one for one in differing if one.shown), None)
    example = f", for example {first.shown!r} shown and {first.scored!r} scored in text {first.text}" if first else ""
    return InputError(
        f"{times.source.path} and {scores.source.path}", f"{matched:,} of {count:,} words alike{example}",
        "the words that were shown, scored in the same texts",
        "Give --texts order if texts are numbered differently, --columns text=A+B if several columns name a text, or --tolerate.",
    )  # fmt: skip


def accepted(pairs: Sequence[str]) -> frozenset[tuple[str, str]]:
    """Read spellings that are one word: `SHOWN=SCORED`."""
    found = set()
    for pair in pairs:
        shown, equals, scored = pair.partition("=")
        if not (shown and equals and scored):
            raise UsageError("--accept", repr(pair), "SHOWN=SCORED, for example peaked=peeked")
        found.add((shown, scored))
    return frozenset(found)


def of_tokens(tokens: Sequence[str], surprisals: Sequence[float | None]) -> list[tuple[str, float]]:
    """Sum the surprisals of the tokens of a text to words, which are separated by white space.

    A token belongs to the word that contains its first visible character; white space alone belongs to the next word.

    Arguments:
        tokens: the tokens, which together are the text.
        surprisals: their surprisals; None where a model gave none.

    >>> of_tokens(["The", " ca", "t", " sat."], [None, 2.0, 1.0, 4.0])
    [('The', nan), ('cat', 3.0), ('sat.', 4.0)]
    """
    text = "".join(tokens)
    words = [match.span() for match in re.finditer(r"\S+", text)]
    sums = [0.0] * len(words)
    start, word = 0, 0
    for token, value in zip(tokens, surprisals, strict=True):
        visible = start + len(token) - len(token.lstrip())
        while word < len(words) and words[word][1] <= visible:
            word += 1
        if word < len(words):
            sums[word] += nan if value is None else value
        start += len(token)
    return [(text[low:high], total) for (low, high), total in zip(words, sums, strict=True)]


def listed(mismatches: Sequence[Mismatch]) -> Mapping[str, list[object]]:
    return {
        "text": [one.text for one in mismatches], "position": [one.position for one in mismatches],
        "shown": [one.shown for one in mismatches], "scored": [one.scored for one in mismatches],
        "line": [one.line or None for one in mismatches],
    }  # fmt: skip
