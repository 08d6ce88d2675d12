"""syntagm cite: what was done, in words and in BibTeX, and only what was done."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from report_examples import hostile, written
from toy_runs import agreement, pairs, toy_run

from syntagm.cli import main
from syntagm.models import load
from syntagm.report import methods, references
from syntagm.runs import fill, open_run, run_suites as run
from syntagm.runs.evaluate import evaluate
from syntagm.suites import Prediction, SuiteFiles, WordList, WordRow, collections, expand, parse, sampled

PLAIN = pairs("plain", ("the dog barks", "the dog bark"))
REQUIRED = {
    "article": {"title", "author", "journal", "year"},
    "book": {"title", "author", "publisher", "year"},
    "incollection": {"title", "author", "booktitle", "year"},
    "inproceedings": {"title", "author", "booktitle", "year"},
    "phdthesis": {"title", "author", "school", "year"},
    "techreport": {"title", "author", "institution", "year"},
    "misc": {"title", "author", "year"},
}


def fields(entry: str) -> dict[str, str]:
    return dict(re.findall(r"^  (\w+) = \{(.*)\},$", entry, re.MULTILINE))


def test_every_entry_is_whole() -> None:
    assert len(references.entries()) > 100
    for key, entry in references.entries().items():
        assert entry.count("{") == entry.count("}"), key
        kind = re.match(r"@(\w+)\{", entry)[1]
        found = fields(entry)
        assert REQUIRED[kind] <= found.keys(), key
        # The key begins with the first author's name and has the year.
        surname = found["author"].split(",")[0].lower()
        assert key.split("-")[0] == surname
        assert found["year"] in key.split("-")


@pytest.mark.slow
def test_every_bundled_suite_names_sources_that_are_known() -> None:
    for collection in collections():
        for path in expand([f"{collection}?n=1"] if collection != "hu2020" else [collection]):
            for suite in SuiteFiles([path]):
                keys, unknown = references.find_mentioned(
                    "; ".join(suite.tags.get(name, "") for name in ("reference", "paper"))
                )
                assert keys, suite.name
                assert not unknown, suite.name


def test_the_paragraph_says_what_was_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    suite = replace(agreement(), tags={"reference": "Marvin and Linzen 2018", "region.1": "subject"})
    opened = toy_run(tmp_path, suite)
    assert main(["cite", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    for expected in (
        "1 language model on 1 suite with 3 items and 6 sentences [@marvin-linzen-2018-targeted; @gauthier-etal-2020-syntaxgym]",
        "`<s>` preceded each text and no end-of-text symbol was scored",
        "The suites make 2 predictions",
        "above 0.0001 bits",
        "the item was excluded as undefined",
        "95% score intervals [@wilson-1927-probable",
        "of all predictions were ties",
        f"`agreement` ({opened.suites[0].hash[:8]}, 3 items)",
        "@inproceedings{marvin-linzen-2018-targeted,",
        "@article{wilson-1927-probable,",
        "@misc{model-toy-12-sentences-",
        "@misc{syntagm,",
    ):
        assert expected in said, expected
    # What is cited is in the bibliography, and the other way round.
    text, bibliography = said.split("\n\n@", 1)
    cited = set(re.findall(r"@([\w-]+)", text))
    entries = {
        key for key in re.findall(r"^(?:@)?\w+\{([^,]+),", bibliography, re.MULTILINE) if not key.startswith("model-")
    }
    assert cited == entries
    # Nothing was compared.
    assert "McNemar" not in said


def test_whole_sentences_have_no_rule_for_regions(tmp_path: Path) -> None:
    plain = pairs("plain", ("the dog barks", "the dog bark"), tags={"seed": "4"})
    whole = toy_run(tmp_path / "whole", plain)
    _, measure, _, suites = methods.paragraphs([whole])
    assert "The value of a sentence is the sum" in measure
    assert "region" not in measure
    assert "1 item, made with seed 4)" in suites
    _, measure, *_ = methods.paragraphs([whole, toy_run(tmp_path / "regions", agreement())])
    assert "The value of a region is the sum" in measure
    assert "A token belongs to the region" in measure


@pytest.mark.slow
def test_the_paragraph_and_the_report_say_that_items_were_sampled(tmp_path: Path) -> None:
    few, whole = sampled(agreement(), 2, 5), agreement("whole")
    one, both = toy_run(tmp_path / "one", few), toy_run(tmp_path / "both", few, whole)
    assert "evaluated: 2 of 3 items, drawn at random (seed 5)." in methods.paragraphs([one])[0]
    # The seed is said once; each suite has its own only if they differ.
    assert methods.paragraphs([one])[-1].endswith(", 2 of 3 items).")
    other = toy_run(tmp_path / "other", sampled(agreement(), 1, 6))
    assert methods.paragraphs([one, other])[-1].endswith(", 1 of 3 items, drawn with seed 6).")
    assert "evaluated: in 1 of 2 suites 2 of 3 items, drawn at random (seed 5)." in methods.paragraphs([both])[0]
    assert methods.paragraphs([both])[-1].endswith(f"`whole` ({both.suites[1].hash[:8]}, 3 items).")
    assert "1 suite, 2 items; only a sample of the items: 2 of 3 items, drawn" in written(tmp_path, one).text
    assert "drawn at random" not in str(methods.paragraphs([toy_run(tmp_path / "all", whole)]))


def test_comparisons_are_cited_where_models_share_a_suite(tmp_path: Path) -> None:
    one, two = toy_run(tmp_path / "a", agreement()), toy_run(tmp_path / "b", agreement(), model="random")
    other = toy_run(tmp_path / "c", PLAIN)
    assert "mcnemar-1947-note" in methods.keys([one, two])
    assert "mcnemar-1947-note" not in methods.keys([one, other])


def test_tests_are_named_only_if_the_runs_admit_them(tmp_path: Path) -> None:
    one, two = toy_run(tmp_path / "a", agreement()), toy_run(tmp_path / "b", agreement(), model="random")
    assert "holm-1979-simple" not in methods.keys([one, two])
    assert not re.search("Holm|t-test", " ".join(methods.paragraphs([one, two])))
    both = [toy_run(tmp_path / m, agreement(), agreement("more"), model=m) for m in ("toy", "random")]
    assert "holm-1979-simple" in methods.keys(both)
    assert "over suites by a t-test" in " ".join(methods.paragraphs(both))
    # A model is not compared with itself.
    again = toy_run(tmp_path / "again", agreement())
    assert "mcnemar-1947-note" not in methods.keys([one, again])


def test_suites_and_models_are_counted_once(tmp_path: Path) -> None:
    one = toy_run(tmp_path / "one", agreement(), agreement("other"))
    two = toy_run(tmp_path / "two", sampled(agreement(), 2, 5))
    found = methods.paragraphs([one, two])[0]
    assert found.startswith(
        "We evaluated 1 language model on 2 suites (1 of them with different items in different runs) with 8 items"
    )
    assert methods.paragraphs([one])[0].startswith("We evaluated 1 language model on 2 suites with 6 items")


def test_masked_models_and_word_borders_have_their_own_sources(tmp_path: Path) -> None:
    opened = toy_run(tmp_path, PLAIN)
    model = opened.record["model"]
    opened.model = "masked:some?masking=word"
    model["policies"] = {"masking": "word", "bos": "yes"}
    model["record"] = {"architecture": "bert", "transformers": "5.0"}
    found = methods.keys([opened])
    assert {"salazar-etal-2020-masked", "kauf-ivanova-2023-better", "devlin-etal-2019-bert"} <= set(found)
    assert "levy-2008-expectation" not in found
    assert "pseudo-log-likelihood, masking a token and the rest of its word" in " ".join(methods.paragraphs([opened]))
    opened.model = "causal:some?boundary=word"
    model["policies"] = {"boundary": "word", "bos": "yes"}
    assert {"pimentel-meister-2024-compute", "oh-schuler-2024-leading", "levy-2008-expectation"} <= set(
        methods.keys([opened])
    )


@pytest.mark.slow
def test_fill_runs_are_described_by_what_they_ask(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = tmp_path / "words.csv"
    words.write_text("lemma,form:singular,form:plural\nbark,barks,bark\nsleep,sleeps,sleep\n")
    suites = tmp_path / "pairs.tsv"
    suites.write_text("good\tbad\nthe dog barks\tthe dog bark\nthe cats sleep\tthe cats sleeps\n")
    folder = str(tmp_path / "run")
    assert main(["fill", "toy", "--suite", str(suites), "--words", str(words), "-o", folder, "--top", "0.5"]) == 0
    capsys.readouterr()
    main(["cite", folder])
    said = capsys.readouterr().out
    assert "every form of the list `words`" in said
    assert "the top 0.5 of the probability" in said
    assert "@newman-etal-2021-refining" in said
    assert "an inequality between such values" not in said


def test_a_masked_model_that_only_filled_gaps_scored_no_texts(tmp_path: Path) -> None:
    words = WordList("words", ("singular", "plural"), (WordRow("bark", ("barks", "bark")),))
    opened = fill(load("toy"), [pairs("p", ("the dog barks", "the dog bark"))], words, tmp_path / "run")
    model = opened.record["model"]
    opened.model = "masked:some?masking=word"
    model["policies"] = {"masking": "word", "masks": "one", "regions": "no", "bos": "yes"}
    said = " ".join(methods.paragraphs([opened]))
    assert "pseudo-log-likelihood" not in said
    assert "masking `word`" not in said
    assert "under one mask in its place, given the text on both sides" in said
    assert not {"salazar-etal-2020-masked", "kauf-ivanova-2023-better"} & set(methods.keys([opened]))
    model["policies"]["masks"] = "several"
    assert "under a mask for each of its tokens" in " ".join(methods.paragraphs([opened]))


def test_the_random_baseline_has_no_probabilities(tmp_path: Path) -> None:
    opened = toy_run(tmp_path, PLAIN, model="random")
    said = " ".join(methods.paragraphs([opened]))
    assert "given the text before it" not in said
    assert "pseudo-random numbers, one for each word" in said
    assert "each text was scored from its first word and no end-of-text symbol" in said
    assert "hale-2001-probabilistic" not in methods.keys([opened])


def test_a_suite_without_a_known_source_falls_short_and_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    strange = replace(agreement("strange"), tags={"reference": "Nobody and Noone 1999"})
    toy_run(tmp_path, strange, PLAIN)
    assert main(["cite", str(tmp_path)]) == 1
    said = capsys.readouterr().err
    assert "suite strange: Nobody and Noone 1999 is not in the bibliography" in said
    assert "suite plain names no source" in said


def test_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    toy_run(tmp_path / "run", replace(PLAIN, tags={"paper": "Hu et al. 2020"}))
    stem = tmp_path / "paper" / "syntagm"
    for _ in range(2):
        assert (
            main(
                [
                    "cite",
                    str(tmp_path / "run"),
                    "--format",
                    "latex",
                    "-o",
                    str(stem),
                    "--also",
                    "bates-etal-2015-fitting",
                ]
            )
            == 0
        )
    assert r"\citep{hu-etal-2020-systematic}" in stem.with_suffix(".tex").read_text()
    assert "bates-etal-2015-fitting" in stem.with_suffix(".bib").read_text()
    stem.with_suffix(".bib").write_text("@book{mine,}")
    assert main(["cite", str(tmp_path / "run"), "--format", "latex", "-o", str(stem)]) == 2
    assert stem.with_suffix(".bib").read_text() == "@book{mine,}"
    assert main(["cite", str(tmp_path / "run"), "--also", "nothing"]) == 2
    assert "one or more of hu-etal-2020" in capsys.readouterr().err


def test_hostile_names_stay_inside_their_fields(tmp_path: Path) -> None:
    opened = hostile(tmp_path)
    made = references.bibtex([], [opened], "1.0")
    assert made.count("{") == made.count("}")
    assert len(re.findall(r"^@misc\{[\w-]+,$", made, re.MULTILINE)) == 2
    for paragraph in methods.paragraphs([opened]):
        assert methods.latex(paragraph)


def test_an_ngram_model_is_cited_by_its_smoothing(tmp_path: Path) -> None:
    opened = run(load("random"), [PLAIN], tmp_path)
    opened.model = "ngram:some.arpa"
    assert references.of_model(opened) == ["kneser-ney-1995-improved", "chen-goodman-1999-empirical"]


@pytest.mark.slow
def test_how_words_end_in_a_blank_is_said_of_fill_runs_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = WordList("few", ("singular", "plural"), (WordRow("bark", ("barks", "bark")),))
    run(load("demo"), [PLAIN], tmp_path / "score")
    fill(load("demo"), [PLAIN], words, tmp_path / "fill")
    said = {}
    for name in ("score", "fill"):
        # The suite names no source.
        assert main(["cite", str(tmp_path / name)]) == 1
        said[name] = capsys.readouterr().out
    assert "fill `word`" in said["fill"]
    assert "fill `word`" not in said["score"]


@pytest.mark.parametrize(
    ("formulas", "said"),
    [
        (("(2;%good%) < (2;%bad%)",), "1 prediction, each an inequality between such values."),
        (("[(2;%good%) < 3] & [(2;%bad%) > 3]",) * 2, "2 predictions, each a conjunction of comparisons between"),
        (
            ("(2;%good%) > 2", "(2;%good%) < (2;%bad%)", "(*;%good%) = (*;%bad%)", "[(*;%good%) < 3] | [(*;%bad%) > 3]"),
            "4 predictions: 2 inequalities, 1 equality and 1 disjunction of comparisons between such values.",
        ),
    ],
)  # fmt: skip
def test_predictions_are_what_their_formulas_are(formulas: tuple[str, ...], said: str) -> None:
    predictions = tuple(Prediction(str(number), parse(formula)) for number, formula in enumerate(formulas))
    opened = evaluate(load("toy"), [replace(agreement(), predictions=predictions)])
    assert said in methods.paragraphs([opened])[1]


def test_effects_in_bits_have_their_interval_and_test(tmp_path: Path) -> None:
    """As `table effects` has them: Student's, and Hall's where differences are skewed."""
    statistics = methods.paragraphs([toy_run(tmp_path, agreement())])[2]
    assert "mean over items of the difference between its sides in bits" in statistics
    assert "contains that of Hall [@hall-1992-removal]" in statistics
    assert "hall-1992-removal" in methods.keys([open_run(tmp_path)])
