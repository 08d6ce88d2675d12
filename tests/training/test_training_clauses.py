"""The clauses that the bundled model reads in its second training."""

from collections import Counter

import pytest

from recipes.demo.clause_words import Lexicon
from recipes.demo.clauses import REPEATS, Clause, clauses, draw, forms

TEXT = """
the castle castles castle castles castle castles wall walls wall walls wall walls
man men man men man men letter letters letter letters letter letters city cities city cities city cities
"""


@pytest.fixture(scope="module")
def lexicon() -> Lexicon:
    return Lexicon([TEXT])


def found(sentence: str, lexicon: Lexicon) -> list[str]:
    return [str(clause) for clause in clauses(sentence, lexicon)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sentence", "clause"),
    [
        ("The wall was high and old.", "The wall was"),
        ("“The wall was high,” he said.", "The wall was"),
        ("He saw that the walls of the castle were very thick.", "The walls of the castle were"),
        (
            "It rained, and the man who wrote the letters seems to have gone.",
            "The man who wrote the letters seems",
        ),
        ("When his men come home, he sings.", "His men come"),
        ("One of the men was asleep.", "One of the men was"),
        ("Those who know the city are few.", "Those who know"),
        ("The letters that the man is reading were long.", "The letters that the man is reading were"),
    ],
)
def test_a_clause_is_read_as_far_as_its_verb(sentence: str, clause: str, lexicon: Lexicon) -> None:
    assert found(sentence, lexicon) == [clause]


@pytest.mark.parametrize(
    "sentence",
    [
        "He came home.",
        # No number can be seen.
        "The man went home.",
        # Subject and verb don't agree, so one of them was misread.
        "The walls of the castle was high.",
        # Neither has a number of its own that the verb shows.
        "The man and the men were old.",
        # The object of a preposition begins no clause.
        "He went to the castle is what I heard.",
        "The man could walk home.",
        "The wall, high and old, was white.",
        "",
        "“…”",
    ],
)
def test_of_others_nothing_is_read(sentence: str, lexicon: Lexicon) -> None:
    assert found(sentence, lexicon) == []


def every_form(sentence: str, lexicon: Lexicon) -> dict[str, tuple[str, bool, bool, bool]]:
    [clause] = clauses(sentence, lexicon)
    return {str(form): form.cell for form in forms(clause, lexicon)}


def test_head_and_nearest_noun_come_in_either_number(lexicon: Lexicon) -> None:
    assert every_form("The wall of the castle was very thick.", lexicon) == {
        "The wall of the castle was": ("phrase", False, False, True),
        "The wall of the castles was": ("phrase", False, True, True),
        "The walls of the castle were": ("phrase", True, True, True),
        "The walls of the castles were": ("phrase", True, False, True),
    }
    assert every_form("The man who wrote the letters comes home.", lexicon) == {
        "The man who wrote the letters comes": ("clause", False, True, False),
        "The man who wrote the letter comes": ("clause", False, False, False),
        "The men who wrote the letters come": ("clause", True, False, False),
        "The men who wrote the letter come": ("clause", True, True, False),
    }


def test_what_stands_before_a_noun_keeps_its_number(lexicon: Lexicon) -> None:
    assert set(every_form("A man in this city was glad.", lexicon)) == {"A man in this city was"}
    assert set(every_form("These men in the city were glad.", lexicon)) == {
        "These men in the city were",
        "These men in the cities were",
    }
    # The text has no such form.
    assert set(every_form("The mud of the city is deep.", lexicon)) == {
        "The mud of the city is",
        "The mud of the cities is",
    }


def test_a_noun_that_keeps_its_number_still_attracts(lexicon: Lexicon) -> None:
    # `some` stands with nouns of either number, so `city` is left alone.
    assert every_form("The walls of the castles in some city were high.", lexicon) == {
        "The walls of the castles in some city were": ("phrase", True, True, True),
        "The walls of the castle in some city were": ("phrase", True, True, True),
        "The wall of the castles in some city was": ("phrase", False, False, True),
        "The wall of the castle in some city was": ("phrase", False, False, True),
    }


def test_a_noun_is_counted_as_a_whole_word() -> None:
    assert Lexicon(["The Ships and the ships sank."] * 5).other_noun("hip") is None


def test_rare_kinds_are_drawn_more_often_than_they_are_found() -> None:
    def clause(number: int, kind: str) -> Clause:
        return Clause(("the", f"n{number}", "is"), 1, 2, (), kind, False, None)

    made = [[clause(number, kind) for number in range(many)] for kind, many in (("nothing", 1296), ("phrase", 16))]
    cells = {some[0].cell: some for some in made}
    drawn = draw(cells, 800, 1)
    by_kind = Counter(one.kind for one in drawn)
    # The fourth roots are 6 and 2.
    assert by_kind == {"nothing": 600, "phrase": 200}
    assert set(Counter(one for one in drawn if one.kind == "phrase").values()) == {12, 13}
    assert draw(cells, 800, 1) == drawn
    assert Counter(one.kind for one in draw(cells, 80_000, 1))["phrase"] == 16 * REPEATS
