"""Which items make contexts, and what is said of the others."""

from collections import Counter

import pytest

from syntagm.evaluation.gaps.context import (
    NO_LABEL,
    NOUNS,
    ONE_KNOWN,
    ComparedConditions,
    Context,
    Labels,
    chosen,
    comparisons,
    contexts,
    knows,
    suite_contexts,
)
from syntagm.suites import (
    Item,
    Prediction,
    Region,
    Sentence,
    Suite,
    WordList,
    WordRow,
    parse,
    read_suites,
    read_word_list,
)

VERBS = WordList("verbs", ("singular", "plural"), (WordRow("be", ("is", "are")), WordRow("bark", ("barks", "bark"))))
PRONOUNS = WordList("reflexives", ("he", "she", "they"), (WordRow("self", ("himself", "herself", "themselves")),))
WHOLE = (ComparedConditions("*", "good", "bad"),)


def pair(good: str, bad: str, **tags: str) -> Item:
    return Item("1", {"good": Sentence(good), "bad": Sentence(bad)}, tags)


def only(item: Item, words: WordList = VERBS) -> Context | str:
    [found] = contexts(item, WHOLE, Labels(words))
    return found


@pytest.mark.parametrize(
    ("good", "bad", "expected"),
    [
        ("The dog barks.", "The dog bark.", Context("The dog ", ".", "barks", "bark", "singular")),
        ("the dogs are old", "the dogs is old", Context("the dogs ", " old", "are", "is", "plural")),
        ('He said: "bark!"', 'He said: "barks!"', Context('He said: "', '!"', "bark", "barks", "plural")),
        ("Are they old?", "Is they old?", Context("", " they old?", "Are", "Is", "plural", True)),
        (
            "“Is it old?” asks she",
            "“Are it old?” asks she",
            Context("“", " it old?” asks she", "Is", "Are", "singular", True),
        ),
        # Only one of the two is in the list; with two labels that is enough.
        ("The dog woofs.", "The dog bark.", Context("The dog ", ".", "woofs", "bark", "singular")),
    ],
)
def test_sentences_that_differ_in_one_word(good: str, bad: str, expected: Context) -> None:
    assert only(pair(good, bad)) == expected


@pytest.mark.parametrize(
    ("good", "bad", "reason"),
    [
        ("The dog barks.", "The dogs bark.", "more than one word differs"),
        ("The dog barks.", "The dog does bark.", "the sentences have different numbers of words"),
        ("The dog barks.", "The dog barks.", "no word differs"),
        ("The dog barks.", "The dog barks!", "the text around the word differs"),
        ("The dog barks.", "The dog bark!", "the text around the word differs"),
        ("The dog - barks.", "The dog ... barks.", "only punctuation differs"),
        ("The dog is.", "The dog barks.", "both words are singular in the word list"),
        (
            "The dog runs.",
            "The dog run.",
            NO_LABEL,
        ),
    ],
)
def test_others_say_why_not(good: str, bad: str, reason: str) -> None:
    assert only(pair(good, bad)) == reason


@pytest.mark.parametrize(
    ("tag", "label"), [("sing", "singular"), ("pl", "plural"), ("-2", "plural"), ("plural", "plural")]
)
def test_a_word_outside_the_list_has_the_label_of_its_tag(tag: str, label: str) -> None:
    found = only(pair("The dog runs.", "The dog run.", number=tag))
    assert isinstance(found, Context)
    assert found.label == label


def test_the_list_goes_before_the_tag() -> None:
    found = only(pair("The dog barks.", "The dog bark.", number="plural"))
    assert isinstance(found, Context)
    assert found.label == "singular"


def test_more_than_two_labels() -> None:
    found = only(pair("The girl saw herself.", "The girl saw themselves."), PRONOUNS)
    assert found == Context("The girl saw ", ".", "herself", "themselves", "she")
    # Of three labels, that of the bad word does not tell that of the good one.
    assert isinstance(only(pair("The girl saw her.", "The girl saw himself."), PRONOUNS), str)


@pytest.mark.parametrize(
    ("formula", "found"),
    [
        ("(2;%a%) < (2;%b%)", [("2", "a", "b")]),
        ("(*;%a%) > (*;%b%)", [("*", "b", "a")]),
        ("((2;%a%) < (2;%b%)) & ((2;%c%) < (2;%d%))", [("2", "a", "b"), ("2", "c", "d")]),
        ("((2;%a%) < (2;%b%)) & ((2;%a%) < (2;%b%))", [("2", "a", "b")]),
        ("((2;%a%) < (2;%b%)) | ((2;%c%) < (2;%d%))", []),
        ("(2;%a%) < (3;%b%)", []),
        ("(2;%a%) + (3;%a%) < (2;%b%) + (3;%b%)", []),
        ("((2;%a%) < (2;%b%)) & ((2;%c%) - (2;%d%) > 0)", []),
    ],
)
def test_which_formulas_compare(formula: str, found: list[tuple[str, str, str]]) -> None:
    assert comparisons(parse(formula)) == tuple(ComparedConditions(*one) for one in found)


def test_the_word_must_stand_in_the_region_that_is_compared() -> None:
    def sentence(text: str, start: int, end: int) -> Sentence:
        return Sentence(text, (Region("verb", start, end),))

    item = Item("1", {"good": sentence("A dog is here", 6, 8), "bad": sentence("A dog are here", 6, 9)})
    elsewhere = Item("1", {"good": sentence("Dogs are here", 9, 13), "bad": sentence("Dogs is here", 8, 12)})
    compared = (ComparedConditions("verb", "good", "bad"),)
    assert isinstance(next(contexts(item, compared, Labels(VERBS))), Context)
    assert (
        next(contexts(elsewhere, compared, Labels(VERBS)))
        == "the word that differs is not in the region that is compared"
    )


def test_the_first_prediction_that_makes_contexts_is_taken() -> None:
    item = Item(
        "1", {name: Sentence(f"The {noun} {verb}") for name, noun, verb in (
            ("a", "dog", "barks"), ("b", "dog", "bark"), ("c", "dogs", "barks"), ("d", "dogs", "bark"))}
    )  # fmt: skip

    def prediction(name: str, formula: str) -> Prediction:
        return Prediction(name, parse(formula))

    other = prediction("contexts", "((*;%a%) < (*;%c%)) & ((*;%d%) < (*;%b%))")
    verbs = prediction("verbs", "((*;%a%) < (*;%b%)) & ((*;%d%) < (*;%c%))")
    labels = Labels(VERBS)
    # The first compares sentences that differ in their nouns, which are not in the list.
    assert chosen(Suite("s", (item,), (other, verbs)), labels) == comparisons(verbs.formula)
    assert chosen(Suite("s", (item,), (other,)), labels) == comparisons(other.formula)
    found = list(contexts(item, comparisons(verbs.formula), labels))
    assert [one.label for one in found if isinstance(one, Context)] == ["singular", "plural"]


@pytest.mark.parametrize(
    ("name", "words", "items"),
    [
        ("hu2020/number_prep", None, 2),
        ("marvin2018/obj_rel_within_anim?n=20", None, 1),
        ("marvin2018/simple_agrmt?n=20", None, 1),
        ("marvin2018/reflexives_across?n=20", PRONOUNS, 1),
        ("hu2020/reflexive_prep_masc", PRONOUNS, 2),
        ("warstadt2020/distractor_agreement_relative_clause?n=5", None, 1),
    ],
)
def test_the_bundled_suites_as_they_are(name: str, words: WordList | None, items: int) -> None:
    """Every item makes its contexts: `items` of them."""
    for suite in read_suites(name):
        labels = Labels(words or _all_verbs(suite))
        compared = chosen(suite, labels)
        assert knows(suite, compared, labels)
        found = [one for item in suite.items for one in contexts(item, compared, labels)]
        assert len(found) == items * len(suite.items)
        assert Counter(one for one in found if isinstance(one, str)) == {}


def _all_verbs(suite: Suite) -> WordList:
    """A list of the words in which the first condition differs from another: what a list of verbs would hold."""
    rows: dict[str, WordRow] = {}
    taken: set[str] = set()
    for item in suite.items:
        texts = [sentence.text.rstrip(".").split() for sentence in item.sentences.values()]
        for good, bad in zip(texts[0], texts[1], strict=True):
            if good != bad and not {good, bad} & taken:
                forms = (good, bad) if good.endswith(("s", "n't")) and good != "are" else (bad, good)
                rows[good] = WordRow(good, forms)
                taken |= {good, bad}
    return WordList("verbs", ("singular", "plural"), tuple(rows.values()))


NPIS = WordList(
    "npis", ("licensed", "unlicensed"), (WordRow("ever", ("ever", "once")), WordRow("any", ("any", "some")))
)


def test_shared_words_make_two_contexts() -> None:
    good, bad = "No dog has ever barked.", "The dog has ever barked."
    assert list(contexts(pair(good, bad), WHOLE, Labels(NPIS, shared=True))) == [
        Context("No dog has ", " barked.", "ever", "once", "licensed"),
        Context("The dog has ", " barked.", "once", "ever", "unlicensed"),
    ]


@pytest.mark.parametrize(
    ("good", "bad", "reason"),
    [
        ("No dog barks.", "The dog barks.", "no word of the list in both sentences"),
        ("No dog ever saw any.", "The dog ever saw any.", "more than one word of the list in both sentences"),
        ("No dog ever barks.", "The dog once barks.", "no word of the list in both sentences"),
        ("No dog ever, ever barks.", "The dog ever, ever barks.", "no word of the list in both sentences"),
    ],
)
def test_sentences_without_a_shared_word(good: str, bad: str, reason: str) -> None:
    assert list(contexts(pair(good, bad), WHOLE, Labels(NPIS, shared=True))) == [reason]


def test_a_shared_word_at_the_beginning() -> None:
    """The capital belongs to the sentence where the word begins it, and not to the other."""
    found = list(contexts(pair("Any dog barks?", "They say any dog barks?"), WHOLE, Labels(NPIS, shared=True)))
    assert found == [
        Context("", " dog barks?", "Any", "Some", "licensed", True),
        Context("They say ", " dog barks?", "some", "any", "unlicensed"),
    ]


def test_shared_words_need_two_labels() -> None:
    found = list(contexts(pair("She saw herself.", "He saw herself."), WHOLE, Labels(PRONOUNS, shared=True)))
    assert found == ["shared words need a word list with two labels"]


def test_npis_of_the_bundled_suites() -> None:
    for suite in read_suites("marvin2018/simple_npi_anim?n=20"):
        labels = Labels(NPIS, shared=True)
        found = [one for item in suite.items for one in contexts(item, chosen(suite, labels), labels)]
        assert [one.label for one in found if isinstance(one, Context)] == ["licensed", "unlicensed"] * len(suite.items)


def test_the_tag_says_nothing_where_the_list_knows_no_word_of_the_suite() -> None:
    """The list of pronouns has nothing to do with verbs, whatever the number of their subject."""
    suite = Suite(
        "verbs",
        (pair("The dog runs.", "The dog run.", number="sing"),),
        (Prediction("p", parse("(*;%good%) < (*;%bad%)")),),
    )
    assert chosen(suite, Labels(VERBS)) == WHOLE
    assert not knows(suite, WHOLE, Labels(VERBS))
    assert list(contexts(suite.items[0], WHOLE, Labels(VERBS), False)) == [NO_LABEL]
    both = Suite("both", (*suite.items, pair("The dog barks.", "The dog bark.")), suite.predictions)
    assert knows(both, WHOLE, Labels(VERBS))


def test_one_known_word_says_nothing_where_the_list_never_knows_both() -> None:
    """`some` is in the list of polarity items, but `no ... some` is about licensors."""
    items = pair("No dog has ever barked.", "Some dog has ever barked."), pair("The dog has ever.", "The dog has once.")
    prediction = (Prediction("p", parse("(*;%good%) < (*;%bad%)")),)
    alone, beside = Suite("alone", items[:1], prediction), Suite("beside", items, prediction)
    assert [knows(suite, WHOLE, Labels(NPIS)) for suite in (alone, beside)] == [False, True]
    assert list(contexts(items[0], WHOLE, Labels(NPIS), False)) == [ONE_KNOWN]
    [found] = contexts(items[0], WHOLE, Labels(NPIS), True)
    assert isinstance(found, Context)
    assert (found.label, found.capital) == ("licensed", True)


@pytest.mark.slow
def test_no_bundled_suite_is_read_by_a_list_that_it_is_not_about() -> None:
    """The suites of which a list makes contexts, of all; each of them is about what the list is about."""
    paradigms = ("adjunct_island", "causative", "distractor_agreement_relative_clause", "ellipsis_n_bar_1")
    names = [
        "marvin2018",
        *(f"warstadt2020/{name}" for name in (*paradigms, "only_npi_scope", "principle_A_c_command")),
    ]
    suites = [suite for name in names for suite in read_suites(f"{name}?n=12")]
    expected = {
        "reflexives": {"reflexive_sent_comp", "reflexives_across", "simple_reflexives", "principle_A_c_command"},
        "reflexive_gender": {"principle_A_c_command"},
        "npis": set(),
    }
    for name, about in expected.items():
        labels = Labels(read_word_list(name))
        assert {suite.name for suite in suites if knows(suite, chosen(suite, labels), labels)} == about
    labels = Labels(read_word_list("verbs"))
    verbs = {suite.name for suite in suites if knows(suite, chosen(suite, labels), labels)}
    tagged = {suite.name for suite in suites if suite.tags.get("phenomenon") == "subject-verb agreement"}
    assert verbs == tagged | {"distractor_agreement_relative_clause"}


def of_pairs(*items: Item, **tags: str) -> Suite:
    return Suite("suite", items, (Prediction("full", parse("(*;%good%) < (*;%bad%)")),), tags)


CLOCKS = pair("He winds these clocks.", "He winds these clock.")
CHAIRS = pair("He sees these chairs.", "He sees these chair.")
LAMPS = pair("He sees these lamps.", "He sees these lamp.")
BELONGS = pair("The lamp belongs to him.", "The lamp belong to him.")
PUBLISHED = WordList(
    "published",
    ("singular", "plural"),
    (
        WordRow("clock", ("clocks", "clock")),
        WordRow("chair", ("chairs", "chair")),
        WordRow("belong", ("belongs", "belong")),
    ),
)
NOUNS_OF_A_USER = WordList("nouns", ("singular", "plural"), (WordRow("clock", ("clock", "clocks")),))


@pytest.mark.parametrize("words", [read_word_list("verbs"), PUBLISHED], ids=["bundled", "without the column noun"])
def test_nouns_are_not_taken_for_verbs(words: WordList) -> None:
    labels = Labels(words)
    # Verbs, too, but there are other nouns in the suite.
    found = suite_contexts(of_pairs(CLOCKS, CHAIRS, LAMPS), labels, True)
    assert not found.contexts
    assert found.skipped == Counter({NOUNS: 2, NO_LABEL: 1})
    # A tag that contradicts the list proves nothing.
    assert not suite_contexts(of_pairs(CLOCKS, LAMPS, number="plur"), labels, True).contexts


@pytest.mark.parametrize(
    "suite",
    [
        # A pair that is about a verb and nothing else; a tag that agrees; no other pair.
        of_pairs(CLOCKS, LAMPS, BELONGS),
        of_pairs(pair("He clocks in.", "He clock in.", number="sing"), LAMPS),
        of_pairs(CLOCKS, CHAIRS),
    ],
)
def test_verbs_that_are_nouns_too(suite: Suite) -> None:
    for words in (read_word_list("verbs"), PUBLISHED):
        assert "clocks" in {
            item.good for found in suite_contexts(suite, Labels(words), True).contexts.values() for item in found.items
        }


def test_a_list_of_nouns_is_about_nouns() -> None:
    assert suite_contexts(of_pairs(CLOCKS, LAMPS), Labels(NOUNS_OF_A_USER), True).item_count == 1
