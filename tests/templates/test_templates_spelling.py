"""Spelling: a and an, blanks, capitals, the published style."""

from pathlib import Path

import pytest

import syntagm as sg
from syntagm.core import InputError
from syntagm.suites import UNKNOWN, find, spelling as of_language
from syntagm.suites.templates import spelling

ENGLISH = of_language.of(find("en"))
article = ENGLISH.dependents[0].form

AN = """apple hour honest honour honor heir heirloom hourly urn umbrella usher utter urban uncle under ugly unimportant
uninteresting unidentified unironic unillustrated island egg oak x-ray X-ray F16 MP MPs FBI LED 8 80 800-page 11th 18 1812 11,000
18000 only SIMD onion onerous éclair œuvre Ångström über yttrium igloo Uzi"""
A = """unit union unique unicorn uniform universe university unanimous unimodal unidirectional user useful usual usurper utensil
utility utopia European eulogy euphemism ewe one once one-way oneness ukulele Ukrainian ubiquitous uranium urine Uruguayan UFO USB
UK U-turn t-shirt house horse history dog yellow year young 1 100 118 118000 7 ufo uvula unix use ewer NATO NATO-led NASA ROMs"""


def test_an() -> None:
    assert [word for word in AN.split() if article(word) != "an"] == []


def test_a() -> None:
    assert [word for word in A.split() if article(word) != "a"] == []


@pytest.mark.parametrize(
    ("following", "expected"), [("", "a"), ("...", "a"), ('"apple', "an"), ("$80 note", "an"), ("(old) cat", "an")]
)
def test_what_stands_before_the_word_is_no_sound(following: str, expected: str) -> None:
    assert article(following) == expected


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        (["a(n)", "", "old", "unit."], "An old unit."),
        (["A(n) unit", "a(n)", "a(n) egg"], "A unit an an egg"),
        (["banana(n)"], "Banana(n)"),
        (["it is a(n)"], "It is a"),
    ],
)
def test_articles_look_over_the_borders_of_regions(parts: list[str], expected: str) -> None:
    assert spelling.sentence(parts, ENGLISH)[0] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (" the  dog 's bone ,  then ", "the dog's bone, then"),
        (
            "she 'd say they 're ( not ) here , we 've , I 'm , he 'll !",
            "she'd say they're (not) here, we've, I'm, he'll!",
        ),
        ("did n't", "didn't"),
        ("he said 'sorry' and 'so' : n'tama", "he said 'sorry' and 'so': n'tama"),
        ("a\tb\u00a0c", "a b c"),
        ("word — word", "word — word"),
        ("", ""),
    ],
)
def test_tidy(text: str, expected: str) -> None:
    assert ENGLISH.attached(spelling.tidy(text)) == expected
    assert ENGLISH.attached(spelling.tidy(expected)) == expected


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        # Glued says: no blank in the pattern. A glued piece after an empty one takes the blank that stood before that.
        ([(False, "was"), (False, ""), (True, "happy")], "was happy"),
        ([(False, "was"), (False, "un"), (True, "happy")], "was unhappy"),
        ([(False, "dog"), (True, ""), (True, "s")], "dogs"),
        ([(True, ""), (True, "a")], "a"),
        ([(False, "dog"), (False, "'s"), (False, "'sorry'")], "dog's 'sorry'"),
        ([], ""),
    ],
)
def test_join(parts: list[tuple[bool, str]], expected: str) -> None:
    assert ENGLISH.attached(spelling.join(parts)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the dog", "The dog"),
        ('"the dog"', '"The dog"'),
        ("(“so”)", "(“So”)"),
        ("'twas", "'Twas"),
        ("8-year-old", "8-year-old"),
        ("ßa", "ßa"),  # its capital is two letters, which would move the regions
        ("élan", "Élan"),
        ("...", "..."),
        ("", ""),
    ],
)
def test_capitals(text: str, expected: str) -> None:
    assert spelling.sentence([text], ENGLISH)[0] == expected


def test_bounds_are_those_of_the_regions() -> None:
    parts = ["the dog", "", "'s", "bone (", "an egg", ").", ""]
    text, bounds = spelling.sentence(parts, ENGLISH)
    assert text == "The dog's bone (an egg)."
    held = [text[start:end] for start, end in zip(bounds[::2], bounds[1::2], strict=True)]
    assert [one.lower() for one in held] == parts


def test_the_published_style_has_no_capitals_and_no_marks() -> None:
    text, bounds = spelling.sentence(["The U.S. team,", "(", "it's said", ")", "won!"], ENGLISH, "published")
    assert text == "the u s team it's said won"
    assert [text[a:b] for a, b in zip(bounds[::2], bounds[1::2], strict=True)] == [
        "the u s team",
        "",
        "it's said",
        "",
        "won",
    ]


def test_forms_without_markers() -> None:
    """With a capital, too: a vocabulary would lack *A(n)*. Where there is no marker, nothing is cut off."""
    found = [of_language.plain(form) for form in ("a(n)", "A(n)", "such a(n) egg", "banana(n)")]
    assert found == ["a", "A", "such a egg", "banana(n)"]


def test_german_has_no_english_endings_and_articles() -> None:
    german = of_language.of(find("de"))
    assert spelling.sentence(["wie geht", "'s a(n)", "Eis?"], german)[0] == "Wie geht 's a(n) Eis?"
    assert of_language.of(UNKNOWN) == ENGLISH


def test_a_template_is_spelled_in_the_language_of_its_tag_or_of_its_lexicon(tmp_path: Path) -> None:
    text = (
        'lexicon = "words"\n[tags]\n{}\n[slots]\nx = "x"\n[items]\nfill = "cross"\n[conditions]\na = "a(n) {{x}} \'s"'
    )
    (tmp_path / "words").mkdir()
    schema = '[classes.x]\nforms = ["form"]\n'
    (tmp_path / "words" / "x.csv").write_text("form\negg\n")

    def spelled(tag: str, language: str) -> str:
        (tmp_path / "words" / "schema.toml").write_text(f'language = "{language}"\n{schema}' if language else schema)
        (tmp_path / "t.toml").write_text(text.format(tag))
        [suite] = sg.read_suites(tmp_path / "t.toml")
        return suite.items[0].sentences["a"].text

    assert spelled("", "") == spelled("", "en") == spelled('language = "en"', "de") == "An egg's"
    assert spelled("", "de") == spelled('language = "de"', "en") == "A(n) egg 's"
    with pytest.raises(InputError, match=r"schema\.toml, language"):
        spelled("", "xx-yy-zz-no")
