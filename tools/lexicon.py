"""Checks and counts of the lexicon `english`, for those who change it.

python -m tools.lexicon forms                 compare all forms with lemminflect, and a or an with the first letter
python -m tools.lexicon count TEXT [TEXT ...]  count the forms in texts (.txt or .txt.gz), write frequency.csv and the bands
python -m tools.lexicon read [-n N] [--seed S]  print random phrases that the features allow

`forms` ends with 1 if there is a disagreement that `disagreements.csv` doesn't list with a reason, or one listed there
that is none any more.
"""

import argparse
import csv
import gzip
import random
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from syntagm.suites import find, spelling

LEXICON = Path(__file__).resolve().parents[1] / "syntagm" / "suites" / "materials" / "lexicon" / "english"
DISAGREEMENTS = LEXICON / "disagreements.csv"
FREQUENCY = LEXICON / "frequency.csv"
NONE = "-"
ALL = "*"  # the row of frequency.csv with the number of all words of the texts
# Occurrences per million words, of all forms of an entry, from which on it is in bands 1 to 4.
BANDS = (100, 30, 10, 3)
# Form of the lexicon -> the tag that lemminflect inflects the first form for.
TAGS: Mapping[str, Mapping[str, str]] = {
    "noun": {"pl": "NNS"},
    "verb": {"sg": "VBZ", "past": "VBD", "participle": "VBN", "ing": "VBG"},
    "adjective": {"comparative": "JJR", "superlative": "JJS"},
}
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_VOWELS = "aeiou"

Row = dict[str, str]
article = spelling.of(find("en")).dependents[0].form
Disagreement = tuple[str, str, str, str, str]


def schema() -> dict[str, Any]:
    """Return the schema."""
    return tomllib.loads((LEXICON / "schema.toml").read_text(encoding="utf-8"))


def rows(name: str) -> list[Row]:
    """Return the rows of a table; none if there is no such table."""
    path = LEXICON / f"{name}.csv"
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write(path: Path, header: Sequence[str], lines: Iterable[Sequence[str]]) -> None:
    """Write a table."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(lines)


def closure(kinds: Iterable[str], tree: Mapping[str, str]) -> set[str]:
    """Return kinds and all more general ones.

    >>> sorted(closure(["fruit"], {"fruit": "food", "food": "thing", "thing": ""}))
    ['food', 'fruit', 'thing']
    """
    result: set[str] = set()
    pending = list(kinds)
    while pending:
        kind = pending.pop()
        if kind not in result:
            result.add(kind)
            pending += [parent for parent in tree[kind].split("/") if parent]
    return result


def forms(row: Row, names: Iterable[str]) -> list[str]:
    """Return the forms that an entry has, in order."""
    return [row[name] for name in names if row[name] not in (NONE, "")]


def disagreements() -> Iterator[Disagreement]:
    """Yield what differs from lemminflect and from the first letter: class, entry, form, ours, theirs."""
    from lemminflect import getInflection

    for name, tags in TAGS.items():
        for row in rows(name):
            entry = next(iter(row.values()))
            for form, tag in tags.items():
                ours = row[form]
                if NONE in (entry, ours) or " " in entry:
                    continue
                theirs = getInflection(entry, tag=tag)
                if ours not in theirs:
                    yield name, entry, form, ours, "/".join(theirs)
    for name, own in schema()["classes"].items():
        if name == "determiner":
            continue
        for row in rows(name):
            for form in own["forms"]:
                word = row[form]
                if word in (NONE, ""):
                    continue
                ours, theirs = article(word), "an" if word[0].lower() in _VOWELS else "a"
                if ours != theirs:
                    yield name, next(iter(forms(row, own["forms"]))), form, f"{ours} {word}", f"{theirs} {word}"


def check() -> int:
    """Print disagreements without a reason, and reasons without a disagreement; return the exit status."""
    keys = ("class", "entry", "form", "ours", "theirs")
    listed = {tuple(row[key] for key in keys): row["reason"] for row in rows("disagreements")}
    occurring = list(dict.fromkeys(disagreements()))
    new = [entry for entry in occurring if not listed.get(entry)]
    old = [entry for entry in listed if entry not in occurring]
    for heading, entries in (("no reason listed:", new), ("listed, but no disagreement:", old)):
        for entry in entries:
            print(heading, ",".join(entry))
    print(f"{len(occurring)} disagreements, {len(new)} without a reason, {len(old)} listed that are none")
    return 1 if new or old else 0


def words(paths: Iterable[Path]) -> Iterator[str]:
    """Yield the words of texts."""
    for path in paths:
        with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
            for line in file:
                yield from _WORD.findall(line.replace("’", "'"))


def count(paths: Sequence[Path]) -> None:
    """Count all words of the lexicon in texts; write the counts and the bands."""
    counts = Counter(words(paths))
    total = sum(counts.values())
    lower: Counter[str] = Counter()
    for word, number in counts.items():
        lower[word.lower()] += number
    # A form with a capital is counted as it stands, so that names aren't mixed up with other words.
    known: dict[str, int] = {}
    for name, own in schema()["classes"].items():
        table = rows(name)
        for row in table:
            own_forms = [
                word for word in dict.fromkeys(forms(row, own["forms"])) if " " not in word and "(" not in word
            ]
            # Words that occur in longer forms only, such as *least*, are needed for the frequency of sentences.
            for word in (*own_forms, *(part for form in forms(row, own["forms"]) for part in parts(form))):
                known[word] = lower[word] if word == word.lower() else counts[word]
            if "band" in own["features"]:
                row["band"] = band(sum(known[word] for word in own_forms), total) if own_forms else NONE
        if table and "band" in own["features"]:
            write(LEXICON / f"{name}.csv", list(table[0]), [list(row.values()) for row in table])
    listing = sorted(known.items(), key=lambda item: (-item[1], item[0]))
    write(FREQUENCY, ["form", "count"], [(ALL, str(total)), *((word, str(number)) for word, number in listing)])
    print(f"{len(known):,} forms, {sum(not number for number in known.values()):,} of them not in {total:,} words")


def parts(form: str) -> list[str]:
    """Return the words of a form of several words, and those that *a(n)* stands for.

    >>> parts("at least"), parts("a(n)"), parts("dog")
    (['at', 'least'], ['a', 'an'], ['dog'])
    """
    return _WORD.findall(form.replace("a(n)", "a an"))


def band(number: int, total: int) -> str:
    """Return the band of an entry that occurs a number of times among all words, from 1 (frequent) to 5 (rare).

    >>> band(120, 1_000_000), band(29, 1_000_000), band(0, 1_000_000)
    ('1', '3', '5')
    """
    return str(next((place for place, least in enumerate(BANDS, 1) if number * 1_000_000 >= least * total), 5))


def phrases(number: int, seed: int) -> Iterator[str]:
    """Yield random phrases that the features allow: adjective and noun, noun and of-phrase, preposition and noun."""
    generator = random.Random(seed)
    tree = schema()["trees"]["kind"]
    nouns = rows("noun")
    kinds = {id(row): closure(row["kind"].split("/"), tree) for row in nouns}

    def fitting(wanted: str) -> list[Row]:
        values = set(wanted.split("/"))
        return [row for row in nouns if kinds[id(row)] & values]

    adjectives = [row for row in rows("adjective") if "attributive" in row["position"] and row["kind"] != NONE]
    relational = [row for row in nouns if row["of"] != NONE]
    prepositions = [row for row in rows("preposition") if row["kind"] != NONE]
    for _ in range(number):
        row = generator.choice(adjectives)
        yield f"{row['form']} {_shown(generator.choice(fitting(row['kind'])), generator)}"
    for _ in range(number):
        row, number_form = generator.choice(relational), generator.choice(("sg", "pl"))
        of = generator.choice(fitting(row["of"]))
        yield f"the {_shown(row, generator, number_form)} of the {_shown(of, generator, number_form)}"
    for _ in range(number // 4):
        row = generator.choice(prepositions)
        yield f"{row['form']} the {_shown(generator.choice(fitting(row['kind'])), generator)}  ({row['type']})"


def _shown(row: Row, generator: random.Random, form: str = "") -> str:
    return row[form] if form and row[form] != NONE else generator.choice(forms(row, ("sg", "pl")))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tools.lexicon", description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("forms", help="compare all forms with lemminflect")
    counting = commands.add_parser("count", help="count the forms in texts; write frequency.csv and the bands")
    counting.add_argument("texts", nargs="+", type=Path, metavar="TEXT")
    reading = commands.add_parser("read", help="print random phrases that the features allow")
    reading.add_argument("-n", type=int, default=100, help="phrases of each sort (default 100)")
    reading.add_argument("--seed", type=int, default=1, help="default 1")
    options = parser.parse_args(arguments)
    if options.command == "forms":
        return check()
    if options.command == "count":
        count(options.texts)
    else:
        for phrase in phrases(options.n, options.seed):
            print(phrase)
    return 0


if __name__ == "__main__":
    sys.exit(main())
