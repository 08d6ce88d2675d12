"""Damaged and hostile templates give a suite or a message, and never another exception."""

import random

import pytest
from grammar_for_tests import CROSS, SAMPLE, TABLE, made

from syntagm.core import InputError, UsageError
from syntagm.suites import expression

PIECES = [
    "{",
    "}",
    "|",
    "[",
    "]",
    '"',
    '"""',
    "'",
    "\\",
    "#",
    "=",
    "$",
    "!",
    ".",
    ",",
    "-",
    "/",
    "%",
    "&",
    "\n",
    "\t",
    "  ",
    "''",
    '""',
    "\\u0000",
    "\\ud800",
    "\\U0010ffff",
    "\u2028",
    "\u202e",
    "é",
    "ß",
    "İ",
    "𝔞",
    "{head.$number}",
    "{$number}",
    "{number}",
    "a(n)",
    "[[suite]]",
    "[suite.items]",
    "[items]",
    "[vary]",
    "[rules]",
    "nan",
    "inf",
    "1e400",
    "9" * 50,
    "true",
    "1979-05-27",
    "{__class__}",
    "= -",
    "!= noun",
    "kind = noun.kind",
    "n = 3",
    'fill = "cross"',
    'fill = "table"',
    'fill = "sample"',
    "x" * 1200,
]
MIX = SAMPLE + TABLE.replace("[items]", "[[suite]]\n[suite.items]").replace("[conditions]", "[suite.conditions]")


def damaged(text: str, generator: random.Random) -> str:
    for _ in range(generator.randint(1, 4)):
        place = generator.randrange(len(text))
        other = generator.randrange(len(text))
        match generator.randrange(5):
            case 0:
                text = text[:place] + generator.choice(PIECES) + text[place:]
            case 1:
                text = text[:place] + text[place + generator.randint(1, 12) :]
            case 2:
                text = text[:place] + text[other : other + 30] + text[place:]
            case 3:
                lines = text.split("\n")
                generator.shuffle(lines)
                text = "\n".join(lines) if generator.random() < 0.2 else text
            case _:
                text = text[:place] + chr(generator.randrange(32, 1000)) + text[place + 1 :]
    return text


@pytest.mark.parametrize("text", [TABLE, CROSS, SAMPLE, MIX], ids=["table", "cross", "sample", "mix"])
def test_damaged_templates(text: str) -> None:
    generator = random.Random(1)
    good = 0
    for _ in range(150):
        hurt = damaged(text, generator)
        try:
            suites = made(hurt, generator.choice([None, 3]))
        except (InputError, UsageError) as error:
            # A lone surrogate or a mark that steers the terminal in a message would be another error soon.
            assert all(one.isprintable() or one == "\n" or one in "\u202e\xa0\xad" for one in str(error)), hurt
            str(error).encode()
            continue
        good += 1
        for suite in suites:
            assert suite.items
            assert len({item.id for item in suite.items}) == len(suite.items)
    assert good > 0 or text == MIX


@pytest.mark.parametrize(
    "name",
    ["__class__", "__init__", "None", "self", "0", "_", "ñ", "中", "a-b", "if", "x" * 200, "items", "words", "pieces"],
)
def test_names_are_names_and_nothing_else(name: str) -> None:
    text = TABLE.replace("head", name)
    assert made(text)[0].items[0].sentences["good"].text == "The cat sleeps all day."
    crossed = CROSS.replace("noun", f"'{name}'", 1).replace("noun", name)
    assert len(made(crossed)[0].items) == 24


@pytest.mark.parametrize("cell", ["{head}", "{verb.sg}", "%s", "\\n", "<script>", "$(ls)", "a(n)", "{$x}", "=1+1"])
def test_what_looks_like_a_pattern_in_a_cell_is_text(cell: str) -> None:
    text = (
        TABLE.replace('"""\nhead', "'''\nhead").replace('""\n"""', "\"\"\n'''").replace("all day", f"so {cell} it is")
    )
    expected = "an it" if cell == "a(n)" else f"{cell} it"
    assert made(text)[0].items[0].sentences["good"].text == f"The cat sleeps so {expected} is."


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("number = [", f"number = [{', '.join(repr(str(n)) for n in range(100_000))}, "),
        ("[vary]", "[vary]\n" + "\n".join(f"v{n} = ['a']" for n in range(20_000))),
        ("[items]", "[[suite]]\n" * 100_000 + "[items]"),
        ("[conditions]", "[conditions]\n" + "\n".join(f"c{n} = 'x'" for n in range(50_000))),
        ("[conditions]", "[conditions]\nlong = '" + "{noun}" * 1500 + "'"),
        ("[predictions]", "[predictions]\n" + "\n".join(f"p{n} = '(*;%good%) < (*;%bad%)'" for n in range(5000))),
        ("ox  | oxen | animal", "ox  | oxen | " + "/".join(f"v{n}" for n in range(900))),
        ("[classes]", f"regions = '{' | '.join(f'r{n}' for n in range(100_000))}'\n[classes]"),
        ("[items]", "[[suite]]\n" * 200 + "[items]\n# " + "x" * 60_000),
        ("sg  | pl   | kind", "|".join(f"c{n}" for n in range(100_000))),
        ("[classes]", "[classes]\n" + "".join(f"k{n} = '''\nf\n'''\n" for n in range(20_000))),
    ],
)
def test_too_much_of_anything(old: str, new: str) -> None:
    with pytest.raises(InputError) as caught:
        made(CROSS.replace(old, new, 1))
    assert len(str(caught.value)) < 700


def test_a_configuration_has_at_most_100_slots() -> None:
    def template(slots: int) -> str:
        used = "".join(f"{{noun{number}.sg}} " for number in range(slots - 3))
        listed = "".join(f'noun{number} = "noun"\n' for number in range(slots - 3))
        return SAMPLE.replace("[slots]\n", f"[slots]\n{listed}").replace("{other.sg}", used + "{other.sg}")

    assert len(made(template(100), n=3)[0].items) == 3
    with pytest.raises(InputError, match="more than 100 slots in one configuration; expected at most 100"):
        made(template(101))


def test_a_long_condition_is_written_for_messages_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = 0
    written = expression.text

    def counted(condition: expression.Expression, inside: bool = False) -> str:
        nonlocal calls
        calls += 1
        return written(condition, inside)

    monkeypatch.setattr(expression, "text", counted)
    long = " or ".join(["kind = animal", "kind = thing"] * 250)
    assert made(SAMPLE.replace('"noun[!= noun]"', f'"noun[{long}]"'), n=3)
    # 500 parts, not 500 times 500.
    assert calls < 5_000


@pytest.mark.parametrize("number", [50, 51, 190])
def test_choices_that_depend_on_one_another_have_a_limit(number: int) -> None:
    last = f"[rules.r{number}]\na = 'x'\nb = 'y'\n"
    rules = [f"[rules.r{k}]\na = {{ text = 'x', when = 'r{k + 1} = a' }}\nb = 'y'\n" for k in range(1, number)]
    used = " ".join(f"{{r{k}}}" for k in range(1, number + 1))
    text = SAMPLE.replace("[classes]", "".join(rules) + last + "[classes]").replace('good = "', f'good = "{used} ')
    if number <= 50:
        assert made(text, 3)
    else:
        with pytest.raises(InputError, match="more than 50 choices, each of which depends on the next; expected fewer"):
            made(text, 3)
