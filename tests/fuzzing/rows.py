"""Damage rows of every layout of suites: each file must be refused with its place, or read as an independent reader reads it.

    python -m tests.fuzzing.rows                       # 10,000 damaged rows
    python -m tests.fuzzing.rows --rows 500 --layout labelled

A sample is a file in `tests/data`, or the first rows of a published one in `../shared`, where that is. One row of it is
damaged: deleted, doubled, moved; a cell emptied, dropped, added, exchanged with its neighbour or with that of another row,
filled with something else; a quotation mark or a separator inserted; or the whole file gets other line ends, a byte order
mark, an empty line, another header. `reference` of each layout reads the damaged text in a few lines of Python, with none of
Syntagm's code, and gives the sentences of each item, or refuses rows that don't make sense. What Syntagm reads and finds no
errors in (`syntagm check`; suites with errors are not run) must be the same, with the same predictions. It may refuse more than
that. Exit code 1: a traceback, or other sentences.
"""

import argparse
import csv
import io
import json
import random
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from syntagm.core import SyntagmError
from syntagm.suites import read_suite_file, violations

HERE = Path(__file__).resolve()
DATA = HERE.parents[1] / "data"
SHARED = HERE.parents[3] / "shared/data"
LINES = 160  # rows of a sample: more than those by which formats are recognised

# The sentences of an item by condition.
Item = dict[str, str]
Read = list[Item] | None


class Refused(Exception):
    """Rows that make no sense."""


def _need(condition: object) -> None:
    if not condition:
        raise Refused


def _without_blanks(text: str, mark: str) -> str:
    """Leave out the white space around cells that isn't within quotation marks."""
    kept, at = list[str](), 0
    while at < len(text):
        # A cell with quotation marks goes up to the one that isn't doubled; what follows it is up to the delimiter.
        cell = re.compile(rf'[^\S\r\n{mark}]*(?:"((?:[^"]|"")*)"|())([^\r\n{mark}]*)').match(text, at)
        assert cell
        quoted = f'"{cell[1]}"' if cell[1] is not None else ""
        kept.append(quoted + (cell[3].rstrip() if not quoted or not cell[3].strip() else cell[3]))
        at = cell.end()
        kept.append(text[at : at + 1])
        at += 1
    return "".join(kept)


def _table(text: str, mark: str, blank: bool = False, about: str = "\0") -> list[dict[str, str]]:
    """Read a table; `blank` leaves out rows of empty cells, and `about` those that begin with it."""
    try:
        content = io.StringIO(_without_blanks(text, mark), newline="")
        rows = [row for row in csv.reader(content, delimiter=mark, strict=True) if row]
        rows = [row for number, row in enumerate(rows) if not number or not blank or any(cell.strip() for cell in row)]
        rows = [row for row in rows if not row[0].lstrip().startswith(about)]
    except csv.Error:
        raise Refused from None
    _need(rows)
    header, *others = rows
    empty = [
        not name.strip() and not any("".join(row[place : place + 1]).strip() for row in others)
        for place, name in enumerate(header)
    ]
    while len(empty) > 1 and empty[-1]:  # columns that a spreadsheet leaves at the end
        empty.pop()
    _need(len(set(header[: len(empty)])) == len(empty))
    _need(all(len(row) == len(header) for row in others) and others)
    return [dict(zip(header[: len(empty)], row, strict=False)) for row in others]


def _cells(mark: str) -> Callable[[str], list[dict[str, str]]]:
    return lambda text: _table(text, mark)


def _objects(text: str) -> list[dict[str, Any]]:
    try:
        rows = [json.loads(line) for line in text.split("\n") if line.strip()]
    except ValueError:
        raise Refused from None
    _need(rows and all(isinstance(row, dict) for row in rows))
    return rows


def _get(row: dict[str, Any], *names: str) -> str:
    """Return the cell under the only column with one of the names, which may be written in another case."""
    found = [value for key, value in row.items() if re.sub(r"[\s_-]+", "_", key.strip()).lower() in names]
    _need(len(found) == 1 and isinstance(found[0], str) and found[0].strip())
    return found[0]


def _pairs(rows: list[dict[str, Any]], good: str, bad: str) -> list[Item]:
    return [{"good": _get(row, good), "bad": _get(row, bad)} for row in rows]


def _with_prefix(rows: list[dict[str, Any]], items: list[Item], *names: str) -> list[Item]:
    """Check that each sentence begins with its prefix and critical word. Three names: one prefix, or two prefixes."""
    for row, item in zip(rows, items, strict=True):
        a, b, c = (_get(row, name).strip() for name in names)
        one = "prefix_good" not in names[0]
        for side, prefix, word in (("good", a, b if one else c), ("bad", a if one else b, c)):
            _need(word and item[side].startswith((f"{prefix} {word}".strip(), prefix + word)))
    return items


TRUE = {"grammatical", "acceptable", "good", "correct", "true", "1"}
FALSE = {"ungrammatical", "unacceptable", "bad", "incorrect", "wrong", "false", "0", "*"}


def _labelled(rows: list[dict[str, str]], sentence: str, label: str, keys: Sequence[str], good: str = "") -> list[Item]:
    groups: dict[tuple[str, ...], Item] = {}
    for row in rows:
        said = _get(row, label).strip()
        _need(good or said.lower() in TRUE | FALSE)
        side = "good" if (said == good if good else said.lower() in TRUE) else "bad"
        item = groups.setdefault(tuple(_get(row, key).strip() for key in keys), {})
        _need(side not in item)
        item[side] = _get(row, sentence)
    _need(all(len(item) == 2 for item in groups.values()))
    return list(groups.values())


def _cola(text: str) -> list[Item]:
    rows = [[cell.strip() for cell in line.split("\t")] for line in re.split(r"\r\n|\r|\n", text) if line.strip(" ")]
    _need(rows and all(len(row) == 4 and row[1].strip() in "01" and row[1].strip() and row[3].strip() for row in rows))
    return [{"sentence": row[3]} for row in rows]


def _ratings(rows: list[dict[str, str]]) -> list[Item]:
    for row in rows:
        found = [cell.strip() for name, cell in row.items() if name.strip().lower() == "judgement"]
        value = found[0] if len(found) == 1 else "none"
        _need(not value or re.fullmatch(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?", value, re.I))
    return [{"sentence": _get(row, "sentence")} for row in rows]


def _lines(text: str) -> list[str]:
    found = re.split(r"\r?\n", text)
    return found[:-1] if found[-1] == "" else found


def _alternating(text: str, first: str) -> list[Item]:
    lines = _lines(text)
    _need(lines and len(lines) % 2 == 0 and all(line.strip() for line in lines))
    second = "bad" if first == "good" else "good"
    return [{first: one, second: other} for one, other in zip(lines[::2], lines[1::2], strict=True)]


def _clams(text: str) -> list[Item]:
    rows = [[part.strip() for part in line.partition("\t")] for line in _lines(text)]
    _need(rows and len(rows) % 2 == 0)
    _need(all(row[0] == ("True", "False")[place % 2] and row[2].strip() for place, row in enumerate(rows)))
    return [{"good": one[2], "bad": other[2]} for one, other in zip(rows[::2], rows[1::2], strict=True)]


def _climp(text: str) -> list[Item]:
    rows = _table(text, ",")
    _need(list(rows[0]) == ["", "0", "1", "2", "3"] and len(rows) % 2 == 0)
    items = []
    for one, other in zip(rows[::2], rows[1::2], strict=True):
        _need(one["0"] == other["0"] and one["1"] == other["1"])
        sides = {row["3"].strip(): row["2"] for row in (one, other)}
        _need(set(sides) == {"0", "1"} and all(text.strip() for text in sides.values()))
        items.append({"good": sides["1"], "bad": sides["0"]})
    return items


def _continuations(text: str) -> list[Item]:
    try:
        rows = json.loads(text)
        items = []
        for [(a, b), (c, d)] in rows:
            _need(all(isinstance(each, str) for each in (a, b, c, d)) and c.strip() and d.strip())
            items.append({"good": f"{a.strip()} {c.strip()}".strip(), "bad": f"{b.strip()} {d.strip()}".strip()})
    except (ValueError, TypeError):
        raise Refused from None
    _need(items)
    return items


def _votes(rows: list[dict[str, Any]]) -> list[Item]:
    items = []
    for row in rows:
        label = str(row.get("label", "")).strip()
        a, b = _get(row, "sentence_a"), _get(row, "sentence_b")
        _need(label in ("0", "1", "sentence_a", "sentence_b"))
        items.append({"good": a, "bad": b} if label in ("0", "sentence_a") else {"good": b, "bad": a})
    return items


def _comps(rows: list[dict[str, Any]]) -> list[Item]:
    names = ("prefix_acceptable", "prefix_unacceptable", "property_phrase")
    texts = [[_get(row, name).strip() for name in names] for row in rows]
    return [{"good": f"{good} {word}", "bad": f"{bad} {word}"} for good, bad, word in texts]


def _worlds(rows: list[dict[str, str]]) -> list[Item]:
    return [
        {
            f"c{c}_t{t}": f"{_get(row, f'context{c}').strip()} {_get(row, f'target{t}').strip()}"
            for c in "12"
            for t in "12"
        }
        for row in rows
    ]


def _sap(rows: list[dict[str, str]]) -> list[Item]:
    items: dict[str, Item] = {}
    for row in rows:
        sentence = _get(row, "sentence")
        place, condition = _get(row, "disambposition_0idx").strip(), _get(row, "condition").strip()
        _need(place.isdecimal() and int(place) < len(sentence.split()))
        item = items.setdefault(_get(row, "item").strip(), {})
        _need(item.setdefault(condition, sentence) == sentence)
    return list(items.values())


def _zones(rows: list[dict[str, str]]) -> list[Item]:
    items: dict[str, dict[str, list[tuple[str, str]]]] = {}
    for row in rows:
        _need("word" in row)
        zone, item = _get(row, "zone").strip(), items.setdefault(_get(row, "set").strip(), {})
        found = item.setdefault(_get(row, "cond").strip(), [])
        _need((not found or found[-1][0] == zone) or zone not in [name for name, _ in found])
        found.append((zone, row["word"].strip()))
    return [
        {name: " ".join(word for _, word in words if word) for name, words in item.items()} for item in items.values()
    ]


def _joined(cells: Sequence[str]) -> str:
    """Join the regions of a sentence; a region that begins with ~ follows without a blank."""
    text = ""
    for cell in (cell.strip() for cell in cells):
        text += cell[1:] if cell.startswith("~") else (" " if text and cell else "") + cell
    return text


def _regions(text: str) -> list[Item]:
    """Sentences in rows, regions in columns; rows about the suite begin with #."""
    fixed = ("item", "condition")
    rows = [
        {(name.strip().lower() if name.strip().lower() in fixed else name): cell for name, cell in row.items()}
        for row in _table(text, ",", blank=True, about="#")
    ]
    header = list(rows[0])
    _need(header[:2] == ["item", "condition"])
    items: dict[str, Item] = {}
    for row in rows:
        if row["item"].strip().startswith("#"):
            continue
        _need(not any(cell.strip() in ("#prediction", "#tag", "#suite", "#metric") for cell in row.values()))
        _need(row["item"].strip() and row["condition"].strip())
        item = items.setdefault(row["item"].strip(), {})
        _need(row["condition"].strip() not in item)
        item[row["condition"].strip()] = _joined([row[name] for name in header[2:] if not name.startswith("tag.")])
    return list(items.values())


def _syntaxgym(text: str) -> list[Item]:
    try:
        suite = json.loads(text)
        items = []
        for item in suite["items"]:
            conditions = {}
            for condition in item["conditions"]:
                contents = [region["content"].strip() for region in condition["regions"]]
                _need(condition["condition_name"] not in conditions)
                conditions[condition["condition_name"]] = " ".join(filter(None, contents))
            items.append(conditions)
    except (ValueError, TypeError, KeyError, AttributeError):
        raise Refused from None
    return items


@dataclass(frozen=True)
class Layout:
    """A layout.

    Arguments:
        name: its name; more than one layout may have the same format.
        samples: files in `tests/data` or the folder of published data.
        reference: reads a damaged text; raises `Refused`.
        options: those that the file needs.
        mark: the separator of cells; "" if rows have none.
        header: whether the first line is a header.
    """

    name: str
    samples: tuple[str, ...]
    reference: Callable[[str], list[Item]]
    options: str = ""
    mark: str = ""
    header: bool = True


def _of(read: Callable[[str], list[dict[str, Any]]], good: str, bad: str) -> Callable[[str], list[Item]]:
    return lambda text: _pairs(read(text), good, bad)


def _headerless(text: str) -> list[Item]:
    content = io.StringIO(_without_blanks(text, "\t"), newline="")
    rows = [line for line in csv.reader(content, delimiter="\t", strict=True) if line]
    _need(all(len(row) == 2 and all(cell.strip() for cell in row) for row in rows))
    return [{"good": row[0], "bad": row[1]} for row in rows]


def _typed(text: str) -> list[Item]:
    """Two columns: under a header, or without one, which is read if rows are pairs."""
    try:
        return _of(_cells("\t"), "good", "bad")(text)
    except Refused:
        if text.lstrip("\ufeff").split("\n")[0].strip().lower().startswith(("good", "bad")):
            raise
        return _headerless(text)


def _one_prefix(rows: list[dict[str, Any]]) -> list[Item]:
    items = _pairs(rows, "sentence_good", "sentence_bad")
    names = [("one_prefix_prefix", "one_prefix_word_good", "one_prefix_word_bad")]
    names += [("two_prefix_prefix_good", "two_prefix_prefix_bad", "two_prefix_word")]
    for chosen in names:
        if any(name in row for row in rows for name in chosen):
            _need(all(isinstance(row.get(name), str) for row in rows for name in chosen))
            _with_prefix(rows, items, *chosen)
    return items


def _two_prefix(rows: list[dict[str, str]]) -> list[Item]:
    return _with_prefix(rows, _pairs(rows, "good", "bad"), "prefix_good", "prefix_bad", "word")


BLIMP = ("kite_subjects", "lantern_agreement", "hub_copy", "chinese_classifiers", "sling_like", "turns", "gate_order")
PAIRS = "minimal_pairs"
LAYOUTS = (
    Layout("typed", ("pairs/typed.tsv",), _typed, mark="\t"),
    Layout("headerless", ("pairs/headerless.tsv", f"{PAIRS}/scamp/recursion_intensifier_adj_1.tsv"),
           _typed, mark="\t", header=False),
    Layout("semicolons", ("pairs/semicolons.csv", f"{PAIRS}/turblimp/augmented_anaphor_agreement.csv"),
           _of(_cells(";"), "good_sentence", "bad_sentence"), mark=";"),
    Layout("sources", ("pairs/paradigms.csv", f"{PAIRS}/rublimp/anaphor_agreement_gender.csv"),
           _of(_cells(","), "source_sentence", "target_sentence"), mark=","),
    Layout("li_adger", (f"{PAIRS}/li_adger/li-adger_min_pairs.csv",), _of(_cells(","), "gramm_sentence", "ungramm_sentence"),
           "?discard=discard", mark=","),
    Layout("treebank", ("pairs/treebank.tsv",), _of(_cells("\t"), "sen", "wrong_sen"), mark="\t"),
    Layout("two_prefix", ("pairs/two_prefix.tsv",),
           lambda text: _two_prefix(_table(text, "\t")), mark="\t"),
    Layout("named", ("pairs/unknown.csv",), _of(_cells(","), "right", "off"), "?good=right&bad=off", mark=","),
    Layout("lindsea", (f"{PAIRS}/lindsea/id.NPIs_and_negation.jsonl", f"{PAIRS}/lindsea/ta.NPIs_and_negation.jsonl"),
           _of(_objects, "correct", "wrong"), header=False),
    Layout("blimp", (*(f"blimp/{name}.jsonl" for name in BLIMP), f"{PAIRS}/sling/haishi_ma.jsonl", "blimp/passive_1.jsonl",
                     "blimp/distractor_agreement_relative_clause.jsonl"),
           lambda text: _one_prefix(_objects(text)), header=False),
    Layout("votes", ("qfrblimp/cerfs.jsonl", f"{PAIRS}/qfrblimp/qfrblimp_dev.jsonl"),
           lambda text: _votes(_objects(text)), header=False),
    Layout("labelled", ("labelled/kites_nl.csv", f"{PAIRS}/blimp_nl/Phenomenon02.csv"),
           lambda text: _labelled(_table(text, ","), "sentence", "grammaticality", ("paradigm", "item")), mark=","),
    Layout("labelled_named", ("labelled/rows.csv",),
           lambda text: _labelled(_table(text, ","), "text", "ok", ("pair",), "yes"),
           "?sentence=text&label=ok&good=yes&item=pair", mark=","),
    Layout("pair_id", (":pair_id",),
           lambda text: _labelled(_table(text, ","), "sentence", "acceptable", ("pair_id",)), mark=","),
    Layout("cola", ("judgements/kites.tsv",), _cola, mark="\t", header=False),
    Layout("ratings", ("judgements/ratings.csv", f"{PAIRS}/li_adger/human_ME_results.csv"),
           lambda text: _ratings(_table(text, ",")), mark=","),
    Layout("clams", ("clams/subjects.tsv", f"{PAIRS}/clams/he_evalset.prep_anim.txt"), _clams, mark="\t", header=False),
    Layout("climp", ("climp/climp.csv",), _climp, mark=","),
    Layout("zorro", ("zorro/agreement-across_pp.txt", f"{PAIRS}/zorro/anaphor_agreement-pronoun_gender.txt"),
           lambda text: _alternating(text, "bad"), "?format=zorro", header=False),
    Layout("alternating", ("alternating/kites_first_good.txt",), lambda text: _alternating(text, "good"),
           "?format=alternating&first=good", header=False),
    Layout("continuations", ("continuations/gates.json", f"{PAIRS}/bhs/hindi-S_O_V.json"), _continuations, header=False),
    Layout("comps", ("comps/properties.jsonl",), lambda text: _comps(_objects(text)), header=False),
    Layout("worlds", ("ewok/worlds.csv",), lambda text: _worlds(_table(text, ",")), mark=","),
    Layout("sap", ("region_rows/kites_sap.csv",), lambda text: _sap(_table(text, ",")), mark=","),
    Layout("zones", ("region_rows/zones.csv",), lambda text: _zones(_table(text, ",")),
           "?item=set&condition=cond&region=zone&content=word", mark=","),
    Layout("regions", ("spreadsheet/kites.csv",), _regions, mark=","),
    Layout("syntaxgym", ("syntaxgym/lanterns.json",), _syntaxgym, header=False),
)  # fmt: skip
BY_NAME = {layout.name: layout for layout in LAYOUTS}


def sample(name: str) -> str:
    """Return the first rows of a sample; "" if it is absent."""
    if name == ":pair_id":
        rows = (
            f"{k},Die {w} schläft.,1\n{k},Die {w} schlafen.,0\n" for k, w in enumerate(["Katze", "Kuh", "Maus"] * 40)
        )
        return "pair_id,sentence,acceptable\n" + "".join(rows)
    for folder in (DATA, SHARED):
        if (folder / name).is_file():
            text = (folder / name).read_bytes().decode("utf-8-sig")
            if name.endswith(".json"):
                return text
            return "".join(text.splitlines(keepends=True)[: LINES + (LINES % 2)])
    return ""


FILLINGS = (
    *("7", "0", "1", "-2", "1.5", "nan", "True", "no", "yes", "*", "good", "bad", "Grammatical", "ungrammatical"),
    *(" ", "a", "Ida", 'He said "no"', '"', "Eine Katze, die schläft.", "她看见我。", "e\u0301", "\u200b", "\ufeff", "=1+1"),
    *("The keys\tare here.", "a;b", "x" * 11_000, "\x00", "null", "[1]", "\u2028", "\\", "'"),
)  # fmt: skip


def damaged(chance: random.Random, text: str, layout: Layout) -> str:
    """Return the text with one damaged row, or damaged as a whole."""
    lines = text.splitlines(keepends=True)
    begin = 1 if layout.header and len(lines) > 1 else 0
    at, other = (chance.randrange(begin, len(lines)) for _ in range(2))
    kind = chance.randrange(20)
    if kind < 9 and layout.mark:
        return "".join(_in_cells(chance, lines, at, other, layout.mark))
    match kind:
        case 0 | 9:
            del lines[at]
        case 1 | 10:
            lines.insert(other, lines[at])
        case 2 | 11:
            lines[at], lines[other] = lines[other], lines[at]
        case 3 | 12 | 13:
            where = chance.randrange(len(lines[at]) + 1)
            piece = chance.choice(("", '"', ",", "\t", ";", "\n", "\r", "}", "x", " ", "\x00", "\ufeff"))
            lines[at] = lines[at][:where] + piece + lines[at][where + chance.randrange(2) :]
        case 4 | 14:
            return chance.choice(
                ("\ufeff" + text, text.replace("\n", "\r\n"), text.rstrip("\n"), text + "\n", " " + text)
            )
        case 5 | 15:
            lines.insert(at, chance.choice(("\n", " \n", "\t\n", ",,,\n")))
        case 6 | 16:
            lines[0] = chance.choice((lines[0].upper(), lines[0].replace("_", " "), lines[at], "", lines[0].title()))
        case 7 | 17:
            words = lines[at].split(" ")
            words[chance.randrange(len(words))] = chance.choice(FILLINGS[:-6])
            lines[at] = " ".join(words)
        case 8 | 18:
            lines[at] = re.sub(
                r'("?)([\w ]+)\1(?=[,:}\]])', lambda found: chance.choice((found[0], "", '""')), lines[at], count=3
            )
        case _:
            lines[at] = lines[at][: chance.randrange(len(lines[at]))]
    return "".join(lines)


def _in_cells(chance: random.Random, lines: list[str], at: int, other: int, mark: str) -> Iterator[str]:
    """Damage the cells of a row; all other lines stay as they are."""
    rows = [next(csv.reader([lines[number].rstrip("\r\n")], delimiter=mark), []) for number in (at, other)]
    row, source = rows
    if not row:
        yield from lines
        return
    place, second = chance.randrange(len(row)), chance.randrange(len(row))
    match chance.randrange(8):
        case 0:
            row[place] = ""
        case 1:
            del row[place]
        case 2:
            row.insert(place, chance.choice(FILLINGS))
        case 3:
            row[place], row[second] = row[second], row[place]
        case 4 if place < len(source):
            row[place] = source[place]
        case 5:
            row[place] += chance.choice(FILLINGS)
        case 6:
            row[place] = chance.choice((f" {row[place]}", f"{row[place]} ", f"\n{row[place]}", row[place].swapcase()))
        case _:
            row[place] = chance.choice(FILLINGS)
    made = io.StringIO()
    csv.writer(made, delimiter=mark, lineterminator="\n").writerow(row)
    yield from (*lines[:at], made.getvalue(), *lines[at + 1 :])


def outcome(path: Path, layout: Layout) -> tuple[Read, str]:
    """Return what Syntagm reads, with its predictions; or None, and the message of the refusal."""
    try:
        suites = read_suite_file(f"{path}{layout.options}")
    except SyntagmError as error:
        assert str(error).strip()
        return None, str(error)
    if errors := [each for each in violations(suites) if each.error]:
        return None, f"{path.name}: {errors[0]}"  # nothing is run
    formulas = {f"{each.name} {each.formula}" for suite in suites for each in suite.predictions}
    items = [{name: each.text for name, each in item.sentences.items()} for suite in suites for item in suite.items]
    return items, "; ".join(sorted(formulas))


def _sorted(items: Sequence[Item]) -> list[str]:
    return sorted(json.dumps(item, sort_keys=True) for item in items)


def compare(path: Path, layout: Layout, text: str, predictions: str) -> str:
    """Read a damaged text. Return `read` or `refused`; or what went wrong, after an exclamation mark."""
    path.write_bytes(text.encode())
    found, said = outcome(path, layout)
    if found is None:
        return "refused" if path.name in said or layout.options else f"!a refusal without the file: {said}"
    try:
        wanted = layout.reference(text.removeprefix("\ufeff"))
    except (Refused, csv.Error):
        return "!read, though its rows make no sense"
    if _sorted(found) != _sorted(wanted):
        return "!other sentences"
    if said != predictions and layout.name != "regions":  # where predictions are rows, too
        return f"!other predictions: {said}"
    return "read"


def run(rows: int, seed: int, names: Sequence[str], failures: Path | None = None) -> tuple[Counter[str], list[str]]:
    """Try damaged rows, the same number for each sample. Return how many were read or refused, and what went wrong."""
    counts: Counter[str] = Counter()
    wrong: list[str] = []
    samples = [
        (BY_NAME[name], each, text) for name in names for each in BY_NAME[name].samples if (text := sample(each))
    ]
    with tempfile.TemporaryDirectory() as folder:
        prepared = []
        for number, (layout, name, text) in enumerate(samples):
            place = Path(folder) / str(number)
            place.mkdir()
            path = place / (Path(name).name if name[0] != ":" else f"{name[1:]}.csv")
            path.write_bytes(text.encode())
            items, predictions = outcome(path, layout)
            assert items is not None, f"{name}: {predictions}"
            assert _sorted(items) == _sorted(layout.reference(text)), f"{name}: the two readers differ"
            prepared.append((layout, name, text, path, predictions))
        for number in range(rows):
            layout, name, text, path, predictions = prepared[number % len(prepared)]
            chance = random.Random(f"{seed} {number}")
            content = damaged(chance, text, layout)
            try:
                result = compare(path, layout, content, predictions)
            except Exception as error:
                result = f"!{type(error).__name__}: {error}"
            counts[result if result[0] != "!" else "wrong"] += 1
            if result[0] == "!":
                wrong.append(f"{number} {layout.name} {name}: {result[1:]}")
                if failures:
                    failures.mkdir(parents=True, exist_ok=True)
                    (failures / f"{number}-{path.name}").write_bytes(content.encode())
    return counts, wrong


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000, help="damaged rows for all layouts together (10,000)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--layout", nargs="+", default=list(BY_NAME), choices=list(BY_NAME), metavar="NAME")
    parser.add_argument("--failures", type=Path, default=Path("fuzz-failures"), metavar="FOLDER")
    options = parser.parse_args()
    counts, wrong = run(options.rows, options.seed, options.layout, options.failures)
    for line in wrong:
        print(line)
    print(
        f"{sum(counts.values()):,} damaged rows of {len(options.layout)} layouts: "
        + ", ".join(f"{n:,} {what}" for what, n in sorted(counts.items()))
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
