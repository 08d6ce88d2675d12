"""Spelling: a and an, blanks, capitals, the published style."""

import pytest

from syntagm.templates import spelling
from syntagm.templates.article import article

AN = """apple hour honest honour honor heir heirloom hourly urn umbrella usher utter urban uncle under ugly unimportant
uninteresting unidentified unironic unillustrated island egg oak x-ray X-ray F16 MP MPs FBI LED 8 80 800-page 11th 18 1812 11,000
18000 only SIMD onion onerous éclair œuvre Ångström über yttrium igloo Uzi"""
A = """unit union unique unicorn uniform universe university unanimous unimodal unidirectional user useful usual usurper utensil
utility utopia European eulogy euphemism ewe one once one-way oneness ukulele Ukrainian ubiquitous uranium urine Uruguayan UFO USB
UK U-turn t-shirt house horse history dog yellow year young 1 100 118 118000 7 ufo uvula unix use ewer NATO NATO-led NASA ROMs"""


@pytest.mark.parametrize("word", AN.split())
def test_an(word: str) -> None:
    assert article(word) == "an"


@pytest.mark.parametrize("word", A.split())
def test_a(word: str) -> None:
    assert article(word) == "a"


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
    assert spelling.sentence(parts)[0] == expected


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
    assert spelling.tidy(text) == expected
    assert spelling.tidy(expected) == expected


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
    assert spelling.join(parts) == expected


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
    assert spelling.sentence([text])[0] == expected


def test_bounds_are_those_of_the_regions() -> None:
    parts = ["the dog", "", "'s", "bone (", "an egg", ").", ""]
    text, bounds = spelling.sentence(parts)
    assert text == "The dog's bone (an egg)."
    held = [text[start:end] for start, end in zip(bounds[::2], bounds[1::2], strict=True)]
    assert [one.lower() for one in held] == parts


def test_the_published_style_has_no_capitals_and_no_marks() -> None:
    text, bounds = spelling.sentence(["The U.S. team,", "(", "it's said", ")", "won!"], "published")
    assert text == "the u s team it's said won"
    assert [text[a:b] for a, b in zip(bounds[::2], bounds[1::2], strict=True)] == [
        "the u s team",
        "",
        "it's said",
        "",
        "won",
    ]
