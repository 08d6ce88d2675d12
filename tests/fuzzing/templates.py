"""Mutation that knows the template language, and the whole path of a template: read, count, draw, check."""

import contextlib
import random
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from grammar_for_tests import CROSS, LANGUAGE, SAMPLE, TABLE

from syntagm.core import InputError
from syntagm.suites import counts, materials, read_suite_file, template, violations

PARADIGMS = Path(materials.__file__).parent / "warstadt2020"
# Counting is exhaustive, and takes some milliseconds for each configuration.
MOST = 300
LONG = 20_000
# More phrases, aliases, guards and suites in one file than in the templates of other tests.
PHRASES = '''
require = ["number = sg or number = pl"]
[tags]
contrast = "agreement"
[classes]
noun = """
sg   | pl    | kind   | of
roof | roofs | part   | house/barn
barn | barns | house  | -
hut  | huts  | house  | -
"""
verb = """
sg    | pl   | takes
leaks | leak | part/house
burns | burn | house
"""
whole = "noun[kind = house]"
[slots]
head = "noun[of != -]"
inner = "whole[kind = head.of, != head]"
verb = "verb[takes = head.kind, $number = pl => takes != house]"
[vary]
number = ["sg", "pl"]
depth = { values = ["flat", "deep"], when = "number = sg" }
[phrases]
"bare(x, $n)" = "the {x.$n}"
"of(x, y, $n)" = "{bare(x, $n)} of {bare(y, sg)}"
[phrases."vp(v, $n)"]
plain = { text = "{v.$n}", weight = 3 }
twice = { text = "{v.$n} and {again.$n}", when = "n = sg" }
[phrases."vp(v, $n)".slots]
again = "verb[!= v]"
[[suite]]
name = "local"
[suite.conditions]
good = "{bare(inner, $number)} {vp(verb, $number)}."
bad = "{bare(inner, $number)} {vp(verb, !number)}."
[suite.predictions]
full = "(*;%good%) < (*;%bad%)"
[[suite]]
name = "distant"
[suite.conditions]
good = "{of(head, inner, $number)} {vp(verb, $number)} {$depth}."
bad = "{of(head, inner, $number)} {vp(verb, !number)} {$depth}."
[suite.predictions]
full = "(*;%good%) < (*;%bad%)"
[items]
fill = "sample"
n = 12
spread = "verb"
'''
OWN = [text.encode() for text in (LANGUAGE, PHRASES, LANGUAGE, PHRASES, SAMPLE, CROSS, TABLE)]

_BRACKETS = re.compile(r"(?<=\[)[^\[\]\n]*[=][^\[\]\n]*(?=\])")
_WORD = re.compile(r"[A-Za-z_]\w*")
_CALL = re.compile(r"\{[^{}\n]*\}")
_QUOTED = re.compile(r'(?<=")[^"\n]+(?=")')
_NUMBER = re.compile(r"(?<![\w.])\d+(?![\w.])")
_GUARD = re.compile(r',? when = "[^"\n]*"|[^,\[\]"\n]*=>[^,\[\]"\n]*,?|, [^,\[\]"\n=]*!?=[^,\[\]"\n]*(?=[,\]"])')
_OPERATORS = re.compile(r"!=|=>|(?<=\w) = (?=\w)| or | and |, ")
_HEADER = re.compile(r"^\[.*\]$", re.MULTILINE)
_NUMBERS = ("0", "-1", "1", "2", "17", "1000", "100000", "1000000", "999999999999", "1e9", "true")


def paradigms(_: Path) -> list[bytes]:
    """Return the templates of a bundled collection, which draw from the lexicon `english`."""
    return [path.read_bytes() for path in sorted(PARADIGMS.glob("*.toml"))]


def whole(path: Path) -> None:
    """Read a template, count what it can draw, draw three items of each suite, and check them.

    What can't be counted may still be drawn, for instance because of too many configurations.
    """
    for own in template.templates(path):
        if own.fill == "sample":
            with contextlib.suppress(InputError):
                counts(own, MOST)
    list(violations(read_suite_file(f"{path}?format=template&n=3")))


def mutant(chance: random.Random, seeds: Sequence[bytes]) -> bytes:
    """Change a template in one to six places, in ways that mostly keep it a TOML file."""
    text = chance.choice(seeds).decode(errors="replace")
    for _ in range(chance.choice((1, 1, 2, 2, 3, 4, 6))):
        # A longer one, of which a part is repeated, would need more memory than its reader.
        if len(text) < LONG:
            text = chance.choice(_OPERATIONS)(chance, text)
    return text.encode(errors="replace")


def _swapped(chance: random.Random, text: str, pattern: re.Pattern[str]) -> str:
    """Swap two places that match a pattern."""
    places = list(pattern.finditer(text))
    if len(places) < 2:
        return text
    first, second = sorted(chance.sample(places, 2), key=lambda place: place.start())
    middle = text[first.end() : second.start()]
    return text[: first.start()] + second[0] + middle + first[0] + text[second.end() :]


def _replaced(chance: random.Random, text: str, pattern: re.Pattern[str], by: Callable[[str], str]) -> str:
    """Replace one place that matches a pattern."""
    places = list(pattern.finditer(text))
    if not places:
        return text
    place = chance.choice(places)
    return text[: place.start()] + by(place[0]) + text[place.end() :]


def _swap_conditions(chance: random.Random, text: str) -> str:
    return _swapped(chance, text, _BRACKETS)


def _swap_patterns(chance: random.Random, text: str) -> str:
    return _swapped(chance, text, chance.choice((_CALL, _QUOTED)))


def _swap_sections(chance: random.Random, text: str) -> str:
    starts = [match.start() for match in _HEADER.finditer(text)]
    parts = [text[start:end] for start, end in zip([0, *starts], [*starts, len(text)], strict=True)]
    if chance.random() < 0.5:
        chance.shuffle(parts)
    else:
        del parts[chance.randrange(len(parts))]
    return "".join(parts)


def _delete_guard(chance: random.Random, text: str) -> str:
    return _replaced(chance, text, _GUARD, lambda _: "")


def _rename(chance: random.Random, text: str) -> str:
    """Rename one use of a word, or all, to another word of the template."""
    words = sorted(set(_WORD.findall(text)))
    if not words:
        return text
    old, new = chance.choice(words), chance.choice(words)
    if chance.random() < 0.4:
        return re.sub(rf"\b{old}\b", new, text)
    return _replaced(chance, text, re.compile(rf"\b{old}\b"), lambda _: new)


def _nest(chance: random.Random, text: str) -> str:
    """Put a piece of a pattern where another one is: phrases may then contain themselves."""
    pieces = _CALL.findall(text)
    if not pieces:
        return text
    new = chance.choice(pieces)
    return _replaced(chance, text, _CALL, lambda old: chance.choice((new, f"{old} {new}", f"{new} {old}" * 3)))


def _cycle(chance: random.Random, text: str) -> str:
    """Let a phrase use another phrase, or itself, with its own parameters."""
    names = re.findall(r'"(\w+)\(([^()"]*)\)"', text)
    if not names:
        return text
    name, parameters = chance.choice(names)
    arguments = ", ".join(chance.choice((one, one, "verb", "$number", "sg")) for one in parameters.split(", "))
    return _replaced(chance, text, _CALL, lambda old: old + f" {{{name}({arguments})}}")


def _count(chance: random.Random, text: str) -> str:
    return _replaced(chance, text, _NUMBER, lambda _: chance.choice(_NUMBERS))


def _operator(chance: random.Random, text: str) -> str:
    new = chance.choice(("!=", "=>", " = ", " or ", " and ", ", ", " "))
    return _replaced(chance, text, _OPERATORS, lambda _: new)


def _deep(chance: random.Random, text: str) -> str:
    """Put many brackets around a condition or a piece, or many conditions and pieces in a row."""
    times = chance.choice((2, 10, 60, 300, 3000))
    place = chance.choice((_BRACKETS, _CALL, _QUOTED))
    ways: tuple[Callable[[str], str], ...] = (
        lambda old: "not (" * times + old + ")" * times,
        lambda old: "(" * times + old + ")" * times,
        lambda old: ", ".join([old] * times),
        lambda old: " or ".join([old] * times),
        lambda old: " ".join([old] * times),
        lambda old: "{np(" * times + old + ")}" * times,
    )
    return _replaced(chance, text, place, chance.choice(ways))


def _many(chance: random.Random, text: str) -> str:
    """Add variables, slots or alternatives, so that there are many configurations."""
    times = chance.choice((2, 5, 12, 40, 300))
    kind = chance.randrange(4)
    if kind == 0:
        added = "[vary]\n" + "".join(f'v{number} = ["a", "b"]\n' for number in range(times))
        text = text.replace("[vary]\n", added, 1)
        return _replaced(chance, text, _CALL, lambda old: old + "".join(f"{{$v{number}}}" for number in range(times)))
    if kind == 1:
        values = ", ".join(f'"x{number}"' for number in range(times))
        return _replaced(chance, text, re.compile(r'\["[^\[\]\n]*"\]'), lambda _: f"[{values}]")
    if kind == 2:
        rules = "".join(f'r{number} = ["{{r{number + 1}}} a", "b"]\n' for number in range(times))
        text = text.replace("[conditions]", f'[rules]\n{rules}r{times} = ["c", "d"]\n[conditions]', 1)
        return _replaced(chance, text, _CALL, lambda old: old + "{r0}")
    slots = "".join(f's{number} = "noun[kind = s{(number + 1) % times}.kind]"\n' for number in range(times))
    text = text.replace("[slots]\n", "[slots]\n" + slots, 1)
    return _replaced(chance, text, _CALL, lambda old: old + "".join(f"{{s{number}.sg}}" for number in range(times)))


def _lines(chance: random.Random, text: str) -> str:
    lines = text.splitlines(keepends=True)
    place, other = chance.randrange(len(lines) or 1), chance.randrange(len(lines) or 1)
    if not lines:
        return text
    match chance.randrange(3):
        case 0:
            del lines[place]
        case 1:
            lines.insert(other, lines[place])
        case 2:
            lines[place : place + 1] = [lines[place]] * chance.choice((2, 50))
    return "".join(lines)


_OPERATIONS: list[Callable[[random.Random, str], str]] = [
    *(_swap_conditions, _swap_patterns, _swap_sections, _delete_guard, _delete_guard, _rename, _rename),
    *(_nest, _cycle, _count, _operator, _operator, _deep, _many, _lines),
]
