"""Print the surprisal, in bits, of each token and word of texts.

Each TEXT is scored separately; `-` reads texts from standard input, one per line. Words are
separated by white space. The bits of a word are the sum over its tokens; with
`boundary=word` in the name of the model, they are corrected for where the word ends.

    syntagm score demo "The keys to the cabinet are here."
    syntagm score 'gpt2?boundary=word' --json - < sentences.txt

Exit code 1: a token of a text crosses the border between words, so the words of that text
have no bits.
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
    """Add the arguments of the command to the parser."""
    _model.arguments(parser)
    parser.add_argument("texts", metavar="TEXT", nargs="+", help="a text; - reads standard input, one text per line")
    parser.add_argument("--json", action="store_true", help="print one JSON object per text instead of tables")


def run(arguments: argparse.Namespace) -> int:
    """Score and print the texts; return 1 if a token of a text crosses the border between words."""
    texts = _texts(arguments.texts)
    model = _model.load(arguments)
    code = 0
    for answer in model.score(texts):
        scored = model.bos is not None
        try:
            words = _words(answer, scored)
        except AlignmentError as error:
            print(f"syntagm: no bits per word: {error}", file=sys.stderr)
            words, code = [], 1
        (_print_json if arguments.json else _print)(model, answer, words, scored)
    return code


def _texts(arguments: list[str]) -> list[str]:
    texts = [line.rstrip("\n") for text in arguments for line in (sys.stdin if text == "-" else [text])]
    for text in texts:
        try:
            text.encode()
        except UnicodeEncodeError:
            raise UsageError(f"text {text!a}", "bytes that are not UTF-8", "UTF-8") from None
    return texts


def _words(answer: "Surprisals", scored: bool) -> list[tuple[str, float]]:
    """Return each word of the text with its bits."""
    import re

    from syntagm.suite import Region, Sentence
    from syntagm.tasks.reading import Reading

    regions = tuple(Region(match[0], match.start(), match.end()) for match in re.finditer(r"\S+", answer.text))
    values = Reading(first_scored=scored).regions(Sentence(answer.text, regions), answer)
    return [(region.name, float(bits)) for region, bits in zip(regions, values, strict=True)]


def _tokens(answer: "Surprisals") -> list[tuple[str, float, bool]]:
    borders = [*answer.starts.tolist(), len(answer.text)]
    spans = zip(borders[:-1], borders[1:], answer.bits.tolist(), answer.in_vocabulary.tolist(), strict=True)
    return [(answer.text[start:end], bits, in_vocabulary) for start, end, bits, in_vocabulary in spans]


def _total(answer: "Surprisals", scored: bool) -> float:
    from syntagm.tasks.reading import Reading

    return float(Reading(first_scored=scored).bits(answer).sum())


def _print_json(model: "LanguageModel", answer: "Surprisals", words: list[tuple[str, float]], scored: bool) -> None:
    tokens = [
        {"start": start, "token": token, "bits": _number(bits), "known": in_vocabulary}
        for start, (token, bits, in_vocabulary) in zip(answer.starts.tolist(), _tokens(answer), strict=True)
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
    """Replace nan with None, because JSON has no nan."""
    return bits if bits == bits else None


def _print(model: "LanguageModel", answer: "Surprisals", words: list[tuple[str, float]], scored: bool) -> None:
    from rich.console import Console
    from rich.table import Table

    from syntagm.cli._text import plain

    def table(title: str, rows: list[tuple[str, float, str]]) -> Table:
        columns = Table(title=title, title_justify="left", box=None, pad_edge=False)
        columns.add_column(title.partition(" ")[0].rstrip("s"))
        columns.add_column("bits", justify="right")
        columns.add_column("")
        for name, bits, note in rows:
            columns.add_row(plain(name), f"{bits:.3f}", note)
        return columns

    def note(token: str, bits: float, in_vocabulary: bool) -> str:
        if not token:
            return "end-of-text symbol, not part of a word"
        if bits != bits:
            return "not scored: the text begins here" if not scored else "undefined"
        return "" if in_vocabulary else "out of vocabulary"

    console = Console(highlight=False, soft_wrap=True)
    console.print(plain(answer.text, style="bold"))
    tables: list[Any] = [
        table(
            "tokens",
            [
                (repr(token)[1:-1], bits, note(token, bits, in_vocabulary))
                for token, bits, in_vocabulary in _tokens(answer)
            ],
        )
    ]
    if words:
        tables.append(table("words", [(word, bits, "") for word, bits in words]))
    side = Table.grid(padding=(0, 4))
    side.add_row(*tables)
    console.print(side)
    settings = " ".join(f"{key}:{value}" for key, value in model.settings.items())
    console.print(plain(f"{_total(answer, scored):.3f} bits, {len(answer.bits)} tokens   {model.name} {settings}\n"))
