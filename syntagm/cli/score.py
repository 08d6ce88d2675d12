"""Compute the surprisal, in bits, of each token and word of texts or of a file.

Each TEXT is scored separately; `-` reads texts from standard input, one per line. FILE (UTF-8,
gzipped or not) holds one text per line, or is one document. A text that is longer than the
model's positions is scored in overlapping windows. Words are separated by white space. The
bits of a word are the sum over its tokens; with `boundary=word` in the name of the model, they
are corrected for where the word ends.

    syntagm score demo "The keys to the cabinet are here."
    syntagm score demo --file sentences.txt --by word -o words.csv
    syntagm score gpt2 --file story.txt --context document --stride 512 --by word -o words.tsv
    syntagm score 'gpt2?boundary=word' --json - < sentences.txt
    syntagm score gpt2 --model models/lstm --file story.txt --by word -o words.csv
    syntagm score gpt2 --file story.txt --context document --context-sentences 1 --by word -o words.csv

The ending of the output file is .csv, .tsv, .parquet or .jsonl; `-o -` prints CSV. Its columns
are text (from 0), line (in the file, from 1), index (of the token or word in its text, from 0),
start, end (characters of the text), token or word, bits, known (whether it is in the model's
vocabulary), and context (how many tokens of the text the model saw; for a word, when it scored
its first token). With --model, tables have the rows of all models, under a first column `model`.
--context-tokens and --context-sentences score each word with a maximum of context before it, which
takes long: each word, or each line of a document, is scored on its own.

Exit code 1: a token or word has no bits, but should have them; a message gives the reason.
"""

import argparse
import io
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from syntagm.cli import _files, _options, _streams
from syntagm.core import UsageError, atomic, csv

if TYPE_CHECKING:
    import polars as pl

    from syntagm.evaluation import Count, Spans, Text
    from syntagm.models import InContext, LanguageModel, Surprisals

# A mark in Parquet files, so that only our own are replaced.
_MARK, _UNKNOWN = "syntagm score", "out of vocabulary"
_ENDINGS = (".csv", ".tsv", ".parquet", ".jsonl")


def arguments(parser: argparse.ArgumentParser) -> None:
    _options.add_models(parser)
    add = parser.add_argument
    _options.add_texts(parser, "a text; - reads standard input, one text per line")
    add("--model", metavar="MODEL", action="append", default=[], dest="others", help="one more model; may be repeated")
    add("--file", metavar="FILE", type=Path, help="score the lines of this file; blank lines are skipped")
    add(
        "--context",
        choices=["lines", "document"],
        default="lines",
        help="score each line of a file separately (lines, the default), or in the context of the lines before it (document)",
    )
    add(
        "--stride",
        metavar="N",
        type=int,
        help="the smallest number of tokens of context in a text that is longer than the model's positions; default: half "
        "of the positions",
    )
    add("--context-tokens", metavar="N", type=int, help="at most N tokens of context before the first token of a word")
    add("--context-sentences", metavar="N", type=int, help="at most N lines of a document before the line of a word")
    add("--by", choices=["token", "word"], default="token", help="a row per token (the default) or per word")
    add(
        "--punctuation",
        choices=["attached", "apart"],
        default="attached",
        help="with --by word: punctuation marks around a word belong to it (attached, the default) or have their own rows",
    )
    add(
        "--line-ends",
        choices=["space", "keep"],
        default="space",
        help="with --context document: read line ends as spaces (the default), or score them unchanged",
    )
    _files.add_output(parser, "FILE", "write a table (.csv, .tsv, .parquet or .jsonl); - prints CSV")
    add("--json", action="store_true", help="print one JSON object per text instead of tables")
    _files.add_force(parser)


def run(arguments: argparse.Namespace) -> int:
    from syntagm.evaluation import refuse_options

    _refuse(arguments)
    output = None if arguments.output in (None, Path("-")) else arguments.output
    if output:
        _spare(output, arguments)
    # Errors in the texts are reported before the model is loaded. A file of lines is read twice, as a stream.
    streamed = arguments.file and arguments.context == "lines"
    texts = [] if streamed else list(_texts(arguments))
    count = characters = 0
    for text in _texts(arguments) if streamed else texts:
        count, characters = count + 1, characters + len(text.text)
    models = _load(arguments)
    for model in models:
        refuse_options(model, arguments.by, arguments.punctuation)
    if arguments.context == "document" and arguments.line_ends == "space" and (ends := len(texts[0].starts) - 1):
        print(
            f"note: line ends of the document read as spaces: {ends:,} (--line-ends keep scores them)", file=sys.stderr
        )

    def parts() -> "Iterator[Text]":
        return _texts(arguments) if streamed else iter(texts)

    if arguments.output is None:
        return max(_show(arguments, model, parts()) for model in models)
    return _write(arguments, models, parts, (count, characters), output)


def _load(arguments: argparse.Namespace) -> "list[LanguageModel]":
    given = _options.given_permissions(arguments)
    models = [_options.load(name, given) for name in (arguments.model, *arguments.others)]
    names = [model.name for model in models]
    if repeated := [name for name in names if names.count(name) > 1]:
        raise UsageError("--model", f"{repeated[0]} twice", "different models")
    return models


def _refuse(arguments: argparse.Namespace) -> None:
    """Refuse arguments that don't go together."""
    _options.need_texts("syntagm score", arguments.texts, arguments.file)
    if arguments.context == "document" and not arguments.file and arguments.texts != ["-"]:
        raise UsageError("--context document", "texts on the command line", "--file FILE, or - alone")
    if arguments.json and arguments.output is not None:
        raise UsageError("--json", "-o as well", "one of them", "For a table as JSON lines: -o FILE.jsonl.")
    if (arguments.by, arguments.punctuation) != ("token", "attached"):
        _need_table(arguments, "--by word" if arguments.by == "word" else "--punctuation apart")
    limits = [name for name in ("context_tokens", "context_sentences") if getattr(arguments, name) is not None]
    if limits:
        option = f"--{limits[0].replace('_', '-')}"
        _need_table(arguments, option)
        if len(limits) > 1 or arguments.stride is not None or arguments.punctuation == "apart":
            raise UsageError(option, "another rule of context, or --punctuation apart", f"{option} alone")
        if limits == ["context_sentences"] and arguments.context != "document":
            raise UsageError(
                option, "separate lines", "--context document", "The lines of the document are its sentences."
            )
    if arguments.stride is not None and arguments.stride < 0:
        raise UsageError("--stride", str(arguments.stride), "a whole number from 0")


def _need_table(arguments: argparse.Namespace, option: str) -> None:
    """Refuse an option that concerns only tables, if none is written."""
    if arguments.output is None:
        raise UsageError(option, "no table to write", "-o FILE", "`-o -` prints the table as CSV.")


def _spare(output: Path, arguments: argparse.Namespace) -> None:
    """Refuse an output file of another kind, or one that this command did not write."""
    from syntagm.evaluation import columns

    if output.suffix not in _ENDINGS:
        raise UsageError(f"-o {output}", f"the ending {output.suffix!r}", "one of " + ", ".join(_ENDINGS))
    if arguments.file and output.exists() and output.samefile(arguments.file):
        raise UsageError(f"-o {output}", "the file to score", "another file")
    names = [*(["model"] if arguments.others else []), *columns(arguments.by)]
    if output.suffix == ".csv":
        _files.spare_csv(output, names, arguments.force)
    else:
        marks = {
            ".tsv": "\t".join(names[:5]),
            ".jsonl": '{"model": ' if arguments.others else '{"text": 0, "line": ',
            ".parquet": _MARK,
        }
        _files.spare(output, [marks[output.suffix]], arguments.force)


def _texts(arguments: argparse.Namespace) -> "Iterator[Text]":
    """Yield the texts; a file is read as a stream."""
    from syntagm.core import lines
    from syntagm.evaluation import Text, divide, refuse_file_name

    if arguments.file:
        yield from divide(lines.prose(arguments.file), arguments.context, arguments.line_ends, str(arguments.file))
        return
    read = _lines(arguments.texts)
    for text in arguments.texts:
        if text != "-":
            refuse_file_name(
                text, "A text or a file? Score a file with --file, and such a text through standard input: TEXT -."
            )
    if arguments.context == "document":
        yield from divide(enumerate(read, 1), arguments.context, arguments.line_ends, "standard input")
    else:
        yield from (Text(line, lines=(number,)) for number, line in enumerate(read, 1))


def _lines(texts: Sequence[str]) -> list[str]:
    read = [line.rstrip("\n") for text in texts for line in (sys.stdin if text == "-" else [text])]
    for line in read:
        try:
            line.encode()
        except UnicodeEncodeError:
            raise UsageError(f"text {line!a}", "bytes that are not UTF-8", "UTF-8") from None
    return read


def _write(
    arguments: argparse.Namespace,
    models: "Sequence[LanguageModel]",
    texts: "Callable[[], Iterator[Text]]",
    size: tuple[int, int],
    output: Path | None,
) -> int:
    """Write a table, portion by portion, and print notes about it."""
    import polars as pl

    from syntagm.cli._screen import Screen
    from syntagm.evaluation import Count, empty

    counts = [Count() for _ in models]
    first_columns: dict[str, pl.DataType] = {"model": pl.String()} if arguments.others else {}
    without_rows = pl.DataFrame(schema={**first_columns, **empty(arguments.by).schema})
    with Screen("character") as screen:
        screen.planned(size[1] * len(models), 0, size[0], "text")

        def frames() -> "Iterator[pl.DataFrame]":
            for at, model in enumerate(models):
                for frame, count in _tables(arguments, model, texts(), lambda done: screen.answered("", done)):
                    counts[at] += count
                    yield frame.select(pl.lit(model.name).alias("model"), *frame.columns) if arguments.others else frame

        # The first portion is computed before anything is printed, so that errors come alone.
        first = next(remaining := frames(), without_rows)
        parts = _encoded(chain([first], remaining), without_rows, output.suffix if output else ".csv")
        if output:
            atomic.write_parts(output, parts)
        else:
            for part in parts:
                _streams.data().write(part.decode())
    return max(_report(count, model, arguments.by) for count, model in zip(counts, models, strict=True))


def _tables(
    arguments: argparse.Namespace, model: "LanguageModel", texts: "Iterator[Text]", done: "Callable[[int], None]"
) -> "Iterator[tuple[pl.DataFrame, Count]]":
    """Yield the tables of a model, under a maximum of context if there is one."""
    from syntagm.evaluation import Limit, limited_tables, text_tables

    if arguments.context_tokens is None and arguments.context_sentences is None:
        return text_tables(model, texts, arguments.by, arguments.stride, arguments.punctuation, done)
    limit = Limit(arguments.context_tokens, arguments.context_sentences)
    return limited_tables(model, texts, limit, arguments.by, done)


def _encoded(frames: "Iterable[pl.DataFrame]", without_rows: "pl.DataFrame", ending: str) -> Iterator[bytes]:
    import polars as pl

    if ending == ".parquet":
        buffer = io.BytesIO()
        pl.concat([without_rows, *frames]).write_parquet(buffer, compression="zstd", metadata={"written by": _MARK})
        yield buffer.getvalue()
    elif ending == ".jsonl":
        for frame in frames:
            for row in frame.iter_rows(named=True):
                row["bits"] = _number(row["bits"])
                yield json.dumps(row, ensure_ascii=False).encode() + b"\n"
    else:
        rows = (row for frame in frames for row in frame.iter_rows())
        yield from (line.encode() for line in csv.lines(without_rows.columns, rows, "," if ending == ".csv" else "\t"))


def _report(count: "Count", model: "LanguageModel", by: Any) -> int:
    """Print notes and problems to standard error; return the exit code."""
    for note in count.notes(model, by):
        print(f"note: {note}", file=sys.stderr)
    problems = count.problems(by)
    for problem in problems:
        print(f"syntagm: {problem}", file=sys.stderr)
    return 1 if problems else 0


def _show(arguments: argparse.Namespace, model: "LanguageModel", texts: "Iterator[Text]") -> int:
    from syntagm.evaluation import Count, counted, portions, word_spans
    from syntagm.models import Asking

    total, asking = Count(), Asking(model)
    for portion in portions(texts):
        for answer in asking.read([part.text for part in portion], arguments.stride):
            spans = word_spans(model, answer)
            total += counted(model, answer, spans)
            (_print_json if arguments.json else _print)(model, answer, spans)
        asking.confirm()
    return _report(total, model, "word")


def _tokens(answer: "Surprisals") -> list[tuple[str, float, bool]]:
    borders = [*answer.starts.tolist(), len(answer.text)]
    spans = zip(borders[:-1], borders[1:], answer.bits.tolist(), answer.in_vocabulary.tolist(), strict=True)
    return [(answer.text[start:end], bits, in_vocabulary) for start, end, bits, in_vocabulary in spans]


def _total(answer: "Surprisals", first_scored: bool) -> float:
    """Return the bits of a whole text; its first token counts only if the model scores it."""
    from syntagm.evaluation import Reading

    return float(Reading(first_scored=first_scored).bits(answer).sum())


def _print_json(model: "LanguageModel", answer: "InContext", words: "Spans") -> None:
    surprisals = answer.surprisals
    tokens = [
        {"start": start, "token": token, "bits": _number(bits), "known": in_vocabulary, "context": context}
        for start, (token, bits, in_vocabulary), context in zip(
            surprisals.starts.tolist(), _tokens(surprisals), answer.context.tolist(), strict=True
        )
    ]
    line = {
        "model": model.name,
        "text": surprisals.text,
        "bits": _number(_total(surprisals, model.bos is not None)),
        "tokens": tokens,
        "words": [{"word": word, "bits": _number(bits)} for word, bits, _ in _named(surprisals.text, words)],
    }
    print(json.dumps(line, ensure_ascii=False), file=_streams.data())


def _named(text: str, words: "Spans") -> list[tuple[str, float, bool]]:
    """Return each word with its bits and whether it is known, without the end-of-text symbol."""
    spans = zip(words.starts.tolist(), words.ends.tolist(), words.bits.tolist(), words.known.tolist(), strict=True)
    return [(text[start:end], bits, known) for start, end, bits, known in spans if start < end]


def _number(bits: float) -> float | None:
    """Replace nan with None, because JSON has no nan."""
    return bits if bits == bits else None


def _print(model: "LanguageModel", answer: "InContext", words: "Spans") -> None:
    from syntagm.cli._text import Printer, plain, side_by_side

    surprisals = answer.surprisals
    notes = _notes(model, surprisals)
    tokens = [
        (repr(token)[1:-1], f"{bits:.3f}", note)
        for (token, bits, _), note in zip(_tokens(surprisals), notes, strict=True)
    ]
    tables = [("tokens", [("token", "bits", ""), *tokens])]
    if named := _named(surprisals.text, words):
        words_shown = [(word, f"{bits:.3f}", "" if known else _UNKNOWN) for word, bits, known in named]
        tables.append(("words", [("word", "bits", ""), *words_shown]))
    title, header, *rows = side_by_side(*tables)
    console = Printer()
    console.print(plain(surprisals.text, style="bold"))
    console.print(plain(title, style="italic"))
    console.print(plain(header, style="bold"))
    console.file.writelines(f"{row}\n" for row in rows)
    settings = " ".join(f"{key}:{value}" for key, value in model.settings.items())
    total = _total(surprisals, model.bos is not None)
    outside = f", {count:,} {_UNKNOWN}" if (count := int((~surprisals.in_vocabulary).sum())) else ""
    console.print(plain(f"{total:.3f} bits, {len(surprisals.bits)} tokens{outside}   {model.name} {settings}\n"))


def _notes(model: "LanguageModel", answer: "Surprisals") -> list[str]:
    """Return a note for each token that is empty, has no bits or is unknown; "" for other tokens."""
    notes = []
    for index, (token, bits, in_vocabulary) in enumerate(_tokens(answer)):
        following = "" if token else answer.text[int(answer.starts[index]) :].lstrip()
        if model.eos is not None and index + 1 == len(answer.starts):
            note = "end-of-text symbol, not part of a word"
        elif index == 0 and model.bos is None:
            note = "not scored: the text begins here"
        elif bits != bits:
            note = "undefined"
        elif following:
            note = f"part of {following[0]!r}"
        else:
            note = "" if in_vocabulary else _UNKNOWN
        notes.append(note)
    return notes
