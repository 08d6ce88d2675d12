"""Newman et al. 2021 from fill runs: numbers by pencil, what is refused, what is left out, and the command."""

import csv
import dataclasses
from pathlib import Path

import altair
import polars as pl
import pytest
from fill_for_tests import Drawn
from toy_runs import pairs, toy_run

from syntagm.cli import main
from syntagm.core import RunError, UsageError
from syntagm.papers.newman2021 import confound, reproduce as newman2021
from syntagm.papers.newman2021.rows import with_tse
from syntagm.runs import Run, fill, open_run
from syntagm.suites import Suite, WordList, WordRow
from syntagm.views import Figure, Table, frequency_bands, gaps, groups, nucleus, options, scores

LABELS = ("singular", "plural")
FORMS = {"be": ("is", "are"), "bark": ("barks", "bark"), "cut": ("cuts", "cut"), "sing": ("sings", "sing")}
TAGS = {
    "be": {"band": "3", "noun": "", "past": ""},
    "bark": {"band": "1", "noun": "yes", "past": ""},
    "cut": {"band": "1", "noun": "yes", "past": "yes"},
    "sing": {"band": "1", "noun": "", "past": ""},
}
VERBS = WordList("four", LABELS, tuple(WordRow(lemma, forms, TAGS[lemma]) for lemma, forms in FORMS.items()))
BARE = WordList("bare", LABELS, tuple(WordRow(lemma, forms) for lemma, forms in FORMS.items()))
# Probabilities of is, are, barks, bark, cuts, cut, sings, sing by the last word of the left side; the rest is for
# "the".
GIVEN = {
    "dog": (0.20, 0.10, 0.05, 0.10, 0.02, 0.08, 0.06, 0.04),
    "dogs": (0.10, 0.30, 0.05, 0.10, 0.02, 0.08, 0.03, 0.02),
}


class Known(Drawn):
    """A model whose probabilities are written down."""

    def _probabilities(self, left: str, right: str) -> "object":  # type: ignore[override]
        import numpy as np

        given = GIVEN[left.split()[-1]]
        return np.array([*given, 1 - sum(given)])


VOCABULARY = [*(form for forms in FORMS.values() for form in forms), "the"]
SHORT = pairs(
    "short", ("The dog barks.", "The dog bark."), ("The dogs bark.", "The dogs barks."),
    tags={"construction": "Short VP coordination"},
)  # fmt: skip
LONG = pairs("long", ("A dog sings.", "A dog sing."), tags={"construction": "Long VP coordination"})
OTHER = pairs("other", ("Some dogs are old.", "Some dogs is old."))


def filled(folder: Path, *suites: Suite, words: WordList = VERBS, both_sides: bool = False, **options: object) -> Run:
    return fill(Known(VOCABULARY, "both" if both_sides else "left"), suites, words, folder, **options)  # type: ignore[arg-type]


def made(folder: Path, **options: object) -> dict[str, Table | Figure]:
    return newman2021.of_runs([filled(folder, OTHER, SHORT, LONG, **options)])  # type: ignore[arg-type]


def table(found: Table | Figure) -> list[dict[str, object]]:
    assert isinstance(found, Table)
    return [dict(zip(found.columns, row, strict=True)) for row in found.rows]


def test_table_2_by_pencil(tmp_path: Path) -> None:
    first, second = table(made(tmp_path)["table2"])
    assert (first["construction"], second["construction"]) == ("VP coordination", "other")
    # After "dog", is and sings win, barks and cuts lose: EW 2/4; MW .33 of .65. After "dogs": are, bark, cut; MW .5 of
    # .7.
    assert first["EW"] == pytest.approx((2 / 4 + 3 / 4 + 2 / 4) / 3)
    assert first["MW"] == pytest.approx((0.33 / 0.65 + 0.5 / 0.7 + 0.33 / 0.65) / 3)
    assert first["MW - EW"] == pytest.approx(first["MW"] - first["EW"])  # type: ignore[operator]
    # barks loses after "The dog", bark wins after "The dogs", sings wins after "A dog".
    assert first["TSE"] == pytest.approx(2 / 3)
    assert (first["contexts"], first["items"], first["eligible lemmas"]) == (3, 3, "4")
    assert first["EW low"] <= first["EW"] <= first["EW high"]  # type: ignore[operator]
    assert (first["BERT-large cased"], first["GPT2-XL"]) == ("0.91 / 0.89 / 0.90", "0.89 / 0.87 / 0.97")
    # One context: a number without an interval, and nothing published beside it.
    assert second["EW"] == 0.75
    assert (second["EW low"], second["TSE low"], second["GPT2-XL"]) == (None, None, None)


def test_findings_by_pencil(tmp_path: Path) -> None:
    # Another suite with the context "The dog": TSE is 0 for barks, 1 for is, and 1/2 in the context.
    again = pairs("again", ("The dog is old.", "The dog are old."))
    run = filled(tmp_path, SHORT, LONG, OTHER, again, top=(0.5, 0.7), bottom=(0.3, 0.1))
    found = {row["number"]: row for row in table(newman2021.of_runs([run])["findings"])}
    # In the order The dog, The dogs, A dog, Some dogs.
    tse, equal, model = (1 / 2, 1, 1, 1), (2 / 4, 3 / 4, 2 / 4, 3 / 4), (0.33 / 0.65, 0.5 / 0.7) * 2
    assert found["EW - TSE"]["value"] == pytest.approx((sum(equal) - sum(tse)) / 4)
    assert found["MW - TSE"]["value"] == pytest.approx((sum(model) - sum(tse)) / 4)
    assert found["MW - EW"]["value"] == pytest.approx((sum(model) - sum(equal)) / 4)
    # After "dog", the top .7 has the and is (be wins), and three quarters of are and bark (bark loses); the bottom .3 has
    # cut, which loses, sing, which wins, and a quarter of are and bark. After "dogs", the top has are (be wins), the, and half of
    # is and bark (bark wins); the bottom has cut, which wins, sing, which loses, and half of is and bark.
    dog = (0.25 * 1 + 0.75 * 1 / 2) - (0.75 * 1 / 2 + 0.25 * 1 / 3)
    dogs = 1 - (0.5 * 1 / 2 + 0.5 * 2 / 3)
    assert found["EW, top 0.7 - bottom 0.3"]["value"] == pytest.approx((dog + dogs) / 2)
    # The top .5 and the bottom .1 don't make up the whole.
    assert list(found) == [
        "EW - TSE", "MW - TSE", "MW - EW", "EW, top 0.7 - bottom 0.3", "MW, top 0.7 - bottom 0.3",
    ]  # fmt: skip
    assert [row["claimed"] for row in found.values()] == ["< 0", "> 0", "> 0", "> 0", "> 0"]
    # Equal numbers in a cell agree with neither direction.
    assert [row["in the paper"] for row in found.values()][:3] == [
        "abstract; Table 2, 37 of 40 cells", "Table 2, 10 of 40 cells", "section 1; Table 2, 34 of 40 cells",
    ]  # fmt: skip
    assert {row["n"] for row in found.values()} == {4}


@pytest.mark.parametrize(
    ("low", "high", "below", "above"),
    [(-0.2, -0.1, "holds", "does not hold"), (0.1, 0.2, "does not hold", "holds"), (-0.1, 0.1, *["inconclusive"] * 2)],
)
def test_verdicts_have_the_direction_of_the_paper(low: float, high: float, below: str, above: str) -> None:
    directions = {text.split(": ")[1]: claimed for text, *_, claimed in newman2021.COMPARED}
    judged = {text: claimed.verdict(low, high) for text, claimed in directions.items()}
    assert judged == {"EW is below TSE": below, "MW is above TSE": above, "MW is above EW": above}


def test_a_finding_that_a_run_cannot_show_is_named(tmp_path: Path) -> None:
    pair = [filled(tmp_path / "a", SHORT), filled(tmp_path / "b", SHORT, top=(0.9,), bottom=(0.1,))]
    shown = newman2021.of_runs(pair)["findings"]
    assert isinstance(shown, Table)
    [note] = [note for note in shown.notes if "not tested" in note]
    assert "not tested for drawn:9 (a), filled without such cut-offs" in note
    assert [row["model"] for row in table(shown) if "top" in str(row["number"])] == ["drawn:9 (b)"] * 2


def test_a_single_cut_off_has_a_label_and_its_dots_have_bars(tmp_path: Path) -> None:
    figure = newman2021.of_runs([filled(tmp_path, SHORT, top=(0.5,), bottom=(0.5,))])["figure2_equal_weight"]
    assert isinstance(figure, Figure)
    top, bottom = figure.spec["concat"][0]["vconcat"]
    assert bottom["layer"][0]["encoding"]["x"]["axis"]["values"] == [0.5]
    bars = {"filter": {"field": "joined", "equal": False}}
    assert all(any(layer.get("transform") == [bars] for layer in panel["layer"]) for panel in (top, bottom))
    assert [dot["joined"] for panel in (top, bottom) for dot in panel["data"]["values"]] == [False] * 3


def test_items_without_an_eligible_pair_are_in_no_tse_of_a_context(tmp_path: Path) -> None:
    words = WordList("some", LABELS, (*VERBS.rows, WordRow("thunder", ("the_the", "the_is"))))
    suite = pairs(
        "s",
        ("The dog the_the.", "The dog the_is."),
        ("The dog is.", "The dog are."),
        ("A dog the_the.", "A dog the_is."),
    )
    run = filled(tmp_path, suite, words=words, eligible="single-token")
    assert with_tse(run, ["s"])["tse"].to_list() == [1, None]


def test_paradigms_of_blimp_are_a_row_by_their_names(tmp_path: Path) -> None:
    names = ("irregular_plural_subject_verb_agreement_1", "distractor_agreement_relational_noun")
    blimp = [dataclasses.replace(suite, name=name, tags={}) for suite, name in zip((SHORT, LONG), names, strict=True)]
    made_of_two = newman2021.of_runs([filled(tmp_path, *blimp)])["table2"]
    [row] = table(made_of_two)
    # The paper's numbers are over four paradigms.
    assert isinstance(made_of_two, Table)
    assert made_of_two.notes[-1] == "The paper's numbers are over more suites than here, so not shown: BLiMP."
    assert (row["construction"], row["contexts"], row["GPT2-XL"]) == ("BLiMP", 3, None)


def test_the_paper_is_quoted_beside_rows_with_all_their_suites(tmp_path: Path) -> None:
    def quoted(name: str, **constructions: str) -> object:
        suites = [
            dataclasses.replace(SHORT, name=name, tags={"construction": tag}) for name, tag in constructions.items()
        ]
        return table(newman2021.of_runs([filled(tmp_path / name, *suites)])["table2"])[0]["GPT2-XL"]

    assert quoted("short", vp_coord="Short VP coordination") is None
    assert quoted("both", vp_coord="Short VP coordination", long_vp_coord="Long VP coordination") is not None
    assert quoted("alone", prep_anim="Across a prepositional phrase") is None
    prep = "Across a prepositional phrase"
    assert quoted("pair", prep_anim=prep, prep_inanim=prep) == "0.84 / 0.76 / 0.96"


@pytest.mark.slow
def test_cited_numbers_stand_once_a_row(tmp_path: Path) -> None:
    runs = [filled(tmp_path / name, SHORT, LONG, words=words) for name, words in (("a", VERBS), ("b", BARE))]
    found = table(newman2021.of_runs(runs)["table2"])
    assert [row["model"] for row in found] == ["drawn:9 (a)", "drawn:9 (b)"]
    assert [row["GPT2-XL"] is None for row in found] == [False, True]


def test_the_confound_by_pencil(tmp_path: Path) -> None:
    found = {(row["label"], row["measure"], row["lemmas that are"]): row for row in table(made(tmp_path)["confound"])}
    noun, past, neither = "base is also a noun, no past tense", "base is also a past tense", "neither"
    # After "dog": of be and sing both win, bark and cut don't. After "dogs": be wins, sing doesn't; bark and cut do.
    scores = {key: row["score"] for key, row in found.items() if key[1] == "equal_weight"}
    assert [scores["singular", "equal_weight", one] for one in (neither, noun, past)] == [1, 0, 0]
    assert [scores["plural", "equal_weight", one] for one in (neither, noun, past)] == [0.5, 1, 1]
    # Each label the same: be 1, sing 1/2; bark and cut 1/2.
    assert [scores["all, equally", "equal_weight", one] for one in (neither, noun, past)] == [0.75, 0.5, 0.5]
    singular = found["singular", "equal_weight", noun]
    assert singular["n"] == 1
    assert singular["difference"] == pytest.approx(-1)
    # Within bands: bark beside sing only, 0 - 1; with one lemma on each side there is nothing to redraw.
    assert (singular["within bands"], singular["within low"]) == (-1, None)
    # Two singular contexts alike: .05 right and .10 wrong; of be and sing .26 of .40.
    assert found["singular", "model_weight", noun]["score"] == pytest.approx(0.05 / 0.15)
    assert found["singular", "model_weight", neither]["score"] == pytest.approx(0.26 / 0.40)


def test_an_interval_of_a_difference_of_shares_is_within_its_range() -> None:
    one, other = (pl.DataFrame({"contexts": [1, 1], "won": won}) for won in ([0.0, 1.0], [1.0, 1.0]))
    found = gaps.lemma_difference(one, other, "equal_weight").difference
    assert (found.low, found.value, found.high) == (-1, -0.5, 1)


def test_differences_within_bands_weigh_by_the_first_group() -> None:
    columns = {"contexts": [100] * 3, "band": ["1", "1", "2"]}
    one = pl.DataFrame(columns | {"won": [52.0, 48.0, 100.0]})
    other = pl.DataFrame(columns | {"won": [0.0, 0.0, 0.0]})
    found = gaps.lemma_difference(one, other, "equal_weight", "band").difference
    # 2/3 (1/2 - 0) + 1/3 (1 - 0); the lemma that is alone adds no spread.
    assert found.value == pytest.approx(2 / 3)
    # Of the two lemmas of band 1, sd .028: weight 2/3, SE .02; the others don't vary. t(1) = 12.7.
    assert found.high - found.value == pytest.approx(12.7062 * 2 / 3 * 0.02, rel=1e-4)
    assert found.method == "t(1); random: lemmas; fixed: contexts; only 3 lemmas"
    alone = gaps.lemma_difference(one, other.with_columns(band=pl.lit("9")), "equal_weight", "band")
    assert alone.n == 0
    assert alone.difference.value != alone.difference.value


def test_right_contexts_are_for_models_that_see_them(tmp_path: Path) -> None:
    assert "right_contexts" not in made(tmp_path / "left")
    found = table(made(tmp_path / "both", both_sides=True)["right_contexts"])
    assert [(row["right of the gap"], row["contexts"], row["of them"]) for row in found] == [
        (".", 3, "2 singular, 1 plural"),
        ("old.", 1, "0 singular, 1 plural"),
    ]
    assert found[1]["EW"] == 0.75


def test_contexts_without_a_weight_are_left_out_of_the_mean() -> None:
    nan = float("nan")
    part = pl.DataFrame({"equal_weight": [0.5, 0.7, nan, nan], "model_weight": [0.25, nan, nan, nan]})
    mean, low, high, *rest = confound._means(part)
    assert (mean, rest) == (pytest.approx(0.6), [0.25, None, None])
    assert 0 < low < 0.6 < high < 1


@pytest.mark.slow
def test_lists_without_tags_are_looked_up_among_the_verbs_and_that_is_said(tmp_path: Path) -> None:
    found = made(tmp_path, words=BARE)["confound"]
    assert isinstance(found, Table)
    # be, bark, cut and sing are all in the bundled list.
    assert any("list bare has no tags; those of 4 of 4" in note for note in found.notes)
    pronouns = WordList("own", ("he", "they"), (WordRow("self", ("is", "are")),))
    assert not {"confound", "frequency_bands"} & set(made(tmp_path / "own", words=pronouns))


@pytest.mark.slow
def test_figures_at_cut_offs(tmp_path: Path) -> None:
    found = made(tmp_path, top=(0.1, 0.9), bottom=(0.01, 0.5))
    assert [name for name, one in found.items() if isinstance(one, Figure)] == [*newman2021.FIGURES, "frequency_bands"]
    figure = found["figure4_invalid"]
    assert isinstance(figure, Figure)
    # After "dog" the likeliest word is "the", .35, so at the top .1 nothing counts; at the bottom .01 nothing either.
    shares = {
        (row["end"], row["share"]): row["value"] for row in figure.table.filter(group="other").iter_rows(named=True)
    }
    assert shares[("bottom", 0.01)] == 1
    assert (shares["top", 1.0], shares["top", 0.9]) == (0, 0)
    for one in found.values():
        if isinstance(one, Figure):
            altair.Chart.from_dict(dict(one.spec), validate=True)
    drawn = figure.svg()
    assert drawn.count(", n=") == figure.table.filter(pl.col("value").is_not_nan()).height
    assert "Share of invalid contexts at cut-offs" in drawn
    equal = found["figure2_equal_weight"]
    assert isinstance(equal, Figure)
    # What is undefined has a row and no dot.
    lacking = equal.table.filter(pl.col("value").is_nan())
    assert lacking.height
    assert equal.svg().count(", n=") == equal.table.height - lacking.height


def test_no_cut_offs_no_figures(tmp_path: Path) -> None:
    found = made(tmp_path)
    assert not set(newman2021.FIGURES) & set(found)
    with pytest.raises(UsageError, match="no cut-offs"):
        nucleus.draw_figure([filled(tmp_path, OTHER, SHORT, LONG)])
    with pytest.raises(UsageError, match="equal_weight, model_weight"):
        options.call(nucleus.draw_figure, [filled(tmp_path, OTHER, SHORT, LONG)], {"measure": "tse"}, "figure nucleus")


def test_the_dot_without_a_cut_off_says_which_forms_it_counts(tmp_path: Path) -> None:
    words = WordList("some", LABELS, (*VERBS.rows, WordRow("thunder", ("the_the", "the_is"))))
    cut = {"words": words, "top": (0.9,)}
    every = filled(tmp_path / "all", SHORT, **cut)  # type: ignore[arg-type]
    single = filled(tmp_path / "one", SHORT, eligible="single-token", **cut)  # type: ignore[arg-type]
    # A list whose forms are all single tokens.
    short = filled(tmp_path / "short", SHORT, top=(0.9,))
    for runs, expected in (
        ([every], "dot at 1: no cut-off, forms of several tokens included"),
        ([single], "dot at 1: no cut-off"),
        ([short], "dot at 1: no cut-off"),
        ([every, single], "dot at 1: no cut-off, forms of several tokens included for drawn:9 (all)"),
    ):
        for figure in (nucleus.draw_figure(runs), newman2021.of_runs(runs)["figure2_equal_weight"]):
            assert isinstance(figure, Figure)
            assert figure.spec["title"]["subtitle"][-1].endswith(expected)
    said = newman2021.of_runs([every, single])["eligible"]
    assert isinstance(said, Table)
    assert "fewest and with the most of them (of drawn:9 (one): as single tokens)" in said.notes[0]
    assert frequency_bands.differences([("a", every), ("b", single)]) == [
        "the runs have different eligible rows (a all, b single-token), so that their lemmas differ"
    ]


@pytest.mark.slow
def test_frequency_bands_by_pencil(tmp_path: Path) -> None:
    figure = frequency_bands.draw_figure([filled(tmp_path, OTHER, SHORT, LONG)])
    values = {(row["label"], row["band"]): (row["value"], row["n"]) for row in figure.table.iter_rows(named=True)}
    assert values["singular", 1] == (pytest.approx(1 / 3), 3)
    assert values["plural", 1] == (pytest.approx(2 / 3), 3)
    assert values[frequency_bands.ALL, 1] == (pytest.approx(1 / 2), 3)
    assert values[frequency_bands.ALL, 3] == (pytest.approx(1), 1)
    assert figure.svg().count(", n=") == figure.table.height
    with pytest.raises(UsageError, match="no column band"):
        frequency_bands.draw_figure([filled(tmp_path / "bare", SHORT, words=BARE)])


def test_bands_say_that_suites_or_lists_differ(tmp_path: Path) -> None:
    a, b = filled(tmp_path / "a", OTHER, SHORT), filled(tmp_path / "b", SHORT)
    c = filled(tmp_path / "c", SHORT, words=WordList("fewer", LABELS, VERBS.rows[:-1]))
    # Both have `short`; `other` is the first run's alone.
    said = " ".join(frequency_bands.differences([("a", a), ("b", b)]))
    assert said == "the runs have different suites (a 2, b 1; 1 in common), so that their contexts differ"
    said = " ".join(frequency_bands.differences([("b", b), ("c", c)]))
    lists = f"b four ({gaps.words(b).hash[:8]}), c fewer ({gaps.words(c).hash[:8]})"
    assert said == f"the runs have different word lists ({lists}), so that their lemmas differ"
    for figure in (frequency_bands.draw_figure([a, b]), newman2021.of_runs([a, b])["frequency_bands"]):
        assert isinstance(figure, Figure)
        assert "different suites" in " ".join(figure.spec["title"]["subtitle"])
        # A longer line would be cut off.
        assert max(len(line) for line in figure.spec["title"]["subtitle"][len(frequency_bands.SUBTITLE) :]) <= 90
    assert not frequency_bands.differences([("a", a), ("again", a)])


def test_suites_without_a_context_are_in_no_mean_and_named(tmp_path: Path) -> None:
    none = pairs("none", ("The dog quickly.", "The dog slowly."), tags={"construction": "x"})
    run = filled(tmp_path, SHORT, none, LONG)
    found = scores.make_table([run])
    # TSE: "barks" loses after "The dog" and "bark" wins after "The dogs", 1/2; "sings" wins: (1/2 + 1) / 2.
    assert found.rows[-1][:4] == ("mean of 2 suites", "first", run.model, pytest.approx(3 / 4))
    assert found.notes[-1] == f"{run.model}: no context for the word list in none, so no mean includes them."
    by = groups.make_table([run], "construction")
    assert [row[1] for row in by.rows] == ["Short VP coordination", "Long VP coordination"]
    assert by.notes[-1] == found.notes[-1]
    # Where all suites have contexts, nothing is said.
    assert "no context" not in " ".join(scores.make_table([filled(tmp_path / "all", SHORT, LONG)]).notes)


@pytest.mark.slow
def test_only_single_tokens_and_words_that_are_not_eligible(tmp_path: Path) -> None:
    words = WordList("some", LABELS, (*VERBS.rows, WordRow("thunder", ("the_the", "the_is"))))
    [whole] = table(newman2021.of_runs([filled(tmp_path / "all", SHORT, words=words)])["table2"])
    [single] = table(
        newman2021.of_runs([filled(tmp_path / "one", SHORT, words=words, eligible="single-token")])["table2"]
    )
    assert (whole["eligible lemmas"], single["eligible lemmas"]) == ("5", "4")
    # After "dog", the_the has .35 * .35 and the_is .35 * .20: right is likelier.
    assert whole["EW"] == pytest.approx((3 / 5 + 3 / 5) / 2)
    asked = table(newman2021.of_runs([filled(tmp_path / "all", SHORT, words=words)])["eligible"])[0]
    assert (asked["eligible, least"], asked["single tokens"], asked["lemmas"], asked["sees"]) == (5, 4, 5, "left")


def test_what_is_left_out_is_counted(tmp_path: Path) -> None:
    suite = pairs(
        "mixed", ("The dog barks.", "The dog bark."), ("It rains.", "They rain."), ("The dog bark.", "The dog barks.")
    )
    [asked] = table(newman2021.of_runs([filled(tmp_path, suite)])["eligible"])
    assert (asked["contexts"], asked["items"], asked["left out"], asked["label conflicts"]) == (1, 2, 1, 1)
    assert asked["why left out"] == "more than one word differs (1)"


def test_other_runs_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"expected a fill run"):
        newman2021.of_runs([toy_run(tmp_path / "score", SHORT)])
    with pytest.raises(RunError, match=r"expected a fill run"):
        nucleus.draw_figure([toy_run(tmp_path / "score", SHORT)])


@pytest.mark.slow
def test_rows_of_the_bundled_suites() -> None:
    """All suites that `--model` runs have a row of the paper's table."""
    from syntagm.papers import cited
    from syntagm.suites import read_suites

    known = {tag for line in cited("newman2021")["table2"] for tag in line["constructions"]}
    suites = [suite for name in newman2021.SUITES for suite in read_suites(f"{name}?n=1")]
    assert len(suites) == 19
    assert all(suite.tags.get("construction", suite.name) in known for suite in suites)


@pytest.mark.slow
def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "few.csv").write_text(VERBS.csv())
    paper = newman2021.PAPER
    assert paper.gaps
    few = dataclasses.replace(paper.gaps, words=str(tmp_path / "few.csv"))
    monkeypatch.setattr(newman2021, "PAPER", dataclasses.replace(paper, gaps=few))
    line = ["reproduce", "newman2021", "--model", "toy", "-o", str(tmp_path), "-n", "20"]
    assert main([*line, "--suite", "marvin2018/simple_agrmt", "marvin2018/vp_coord"]) == 0
    shown = capsys.readouterr().out
    assert "## Table 2: model weight, equal weight and TSE by construction" in shown
    with (tmp_path / "table2.csv").open() as file:
        assert [row["construction"] for row in csv.DictReader(file)] == ["Simple", "VP coordination"]
    for name in newman2021.FIGURES:
        assert (tmp_path / f"{name}.svg").exists()
    again = newman2021.of_runs([open_run(tmp_path / "run")])["table2"]
    assert isinstance(again, Table)
    assert again.csv() == (tmp_path / "table2.csv").read_text()
