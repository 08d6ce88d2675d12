"""Surprisal in bits of each token and word of texts.

Each TEXT is scored on its own; `-` reads texts from standard input, one a line. Words are what stands between white space;
a word's bits are the sum over its tokens, and with `boundary=word` in the model's name they are corrected for where the
word ends.

    syntagm score demo "The keys to the cabinet are here."
    syntagm score 'gpt2?boundary=word' --json - < sentences.txt
"""

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any

from syntagm.cli import _model
from syntagm.errors import AlignmentError, UsageError

if TYPE_CHECKING:
    from syntagm.answers import Surprisals
    from syntagm.models.contract import LanguageModel


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    _model.arguments(parser)
    parser.add_argument("texts", metavar="TEXT", nargs="+", help="a text; - for standard input, one text a line")
    parser.add_argument("--json", action="store_true", help="a JSON object a line instead of a table")


def run(arguments: argparse.Namespace) -> int:
    """Score the texts; exit code 1 if the words of a text could not be told apart."""
    texts = _texts(arguments.texts)
    model = _model.load(arguments)
    code = 0
    for answer in model.score(texts):
        scored = model.bos is not None
        try:
            words = _words(answer, scored)
        except AlignmentError as error:
            print(f"syntagm: no words: {error}", file=sys.stderr)
            words, code = [], 1
        (_print_json if arguments.json else _print)(model, answer, words, scored)
    return code


def _texts(given: list[str]) -> list[str]:
    texts = [line.rstrip("\n") for text in given for line in (sys.stdin if text == "-" else [text])]
    for text in texts:
        try:
            text.encode()
        except UnicodeEncodeError:
            raise UsageError(f"text {text!a}", "bytes that are not UTF-8", "UTF-8") from None
    return texts


def _words(answer: "Surprisals", scored: bool) -> list[tuple[str, float]]:
    """Each word of the answer's text with its bits."""
    import re

    from syntagm.suite import Region, Sentence
    from syntagm.tasks.reading import Reading

    regions = tuple(Region(found[0], found.start(), found.end()) for found in re.finditer(r"\S+", answer.text))
    values = Reading(first_scored=scored).regions(Sentence(answer.text, regions), answer)
    return [(region.name, float(bits)) for region, bits in zip(regions, values, strict=True)]


def _tokens(answer: "Surprisals") -> list[tuple[str, float, bool]]:
    borders = [*answer.starts.tolist(), len(answer.text)]
    spans = zip(borders[:-1], borders[1:], answer.bits.tolist(), answer.in_vocabulary.tolist(), strict=True)
    return [(answer.text[start:end], bits, known) for start, end, bits, known in spans]


def _total(answer: "Surprisals", scored: bool) -> float:
    from syntagm.tasks.reading import Reading

    return float(Reading(first_scored=scored).bits(answer).sum())


def _print_json(model: "LanguageModel", answer: "Surprisals", words: list[tuple[str, float]], scored: bool) -> None:
    tokens = [
        {"start": start, "token": token, "bits": _number(bits), "known": known}
        for start, (token, bits, known) in zip(answer.starts.tolist(), _tokens(answer), strict=True)
    ]
    line = {
        "model": model.name,
        "text": answer.text,
        "bits": _number(_total(answer, scored)),
        "tokens": tokens,
        "words": [{"word": word, "bits": _number(bits)} for word, bits in words],
    }
    print(json.dumps(line, ensure_ascii=False))


def _number(bits: float) -> float | None:
    """JSON has no nan."""
    return bits if bits == bits else None


def _print(model: "LanguageModel", answer: "Surprisals", words: list[tuple[str, float]], scored: bool) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    def table(title: str, rows: list[tuple[str, float, str]]) -> Table:
        made = Table(title=title, title_justify="left", box=None, pad_edge=False)
        made.add_column(title.partition(" ")[0].rstrip("s"))
        made.add_column("bits", justify="right")
        made.add_column("")
        for name, bits, note in rows:
            made.add_row(Text(name), f"{bits:.3f}", note)
        return made

    def note(token: str, bits: float, known: bool) -> str:
        if not token:
            return "the end symbol, in no word"
        if bits != bits:
            return "not scored: nothing stands before it" if not scored else "undefined"
        return "" if known else "unknown word"

    console = Console(highlight=False, soft_wrap=True)
    console.print(Text(answer.text, style="bold"))
    parts: list[Any] = [
        table("tokens", [(repr(token)[1:-1], bits, note(token, bits, known)) for token, bits, known in _tokens(answer)])
    ]
    if words:
        parts.append(table("words", [(word, bits, "") for word, bits in words]))
    side = Table.grid(padding=(0, 4))
    side.add_row(*parts)
    console.print(side)
    policies = " ".join(f"{key}:{value}" for key, value in model.settings.items())
    console.print(Text(f"{_total(answer, scored):.3f} bits, {len(answer.bits)} tokens   {model.name} {policies}\n"))
