"""Coverage: unknown tokens and parts of characters, with a tiny byte-level model; and languages in tables and notes."""

from pathlib import Path

import pytest
from models_for_tests import byte_level, causal

import syntagm as sg
from syntagm.cli import main
from syntagm.report import TOKENS, Evidence, Served, Site, numbers
from syntagm.report.predictions import items, scores
from syntagm.report.predictions.chapter import SUITE_BY_SUITE
from syntagm.views import coverage, groups

TEXTS = {
    "en": ("The kite flies.", "The kite fly."),
    "zh": ("他爱自己。", "自己爱他。"),
    "ta": ("அவன் வந்தான்.", "அவன் வந்தாள்."),
}


def suites(folder: Path) -> list[str]:
    for tag, (good, bad) in TEXTS.items():
        (folder / f"{tag}.tsv").write_text(f"good\tbad\n{good}\t{bad}\n", encoding="utf-8")
    return [f"{folder / tag}.tsv?language={tag}" for tag in TEXTS]


def test_parts_of_characters_are_counted_and_said(tmp_path: Path) -> None:
    tokenizer = byte_level()
    run = sg.evaluate(causal("gpt2", tokenizer), sg.read_suites(*suites(tmp_path)))
    table = coverage.make_table([run])
    rows = {row[1]: dict(zip(coverage.COLUMNS, row, strict=True)) for row in table.rows}
    for tag, texts in TEXTS.items():
        tokens = sum(len(tokenizer(text, add_special_tokens=False)["input_ids"]) for text in texts)
        assert (rows[tag]["language"], rows[tag]["tokens"], rows[tag]["unknown"]) == (tag, tokens, 0.0)
        assert rows[tag]["characters per token"] == pytest.approx(sum(map(len, texts)) / tokens)
    # Learnt from English, the tokenizer has no whole letter of the two other scripts: three bytes each, but for spaces.
    assert (rows["en"]["parts"], rows["zh"]["parts"]) == (0.0, 1.0)
    assert len(table.warnings) == len(coverage.remarks([run])) == 2
    by_language = groups.make_table([run], by="language")
    assert [row[1] for row in by_language.rows] == ["en", "zh", "ta"]
    assert [row[0] for row in groups.make_table([run]).rows] == ["language"] * 3


@pytest.mark.slow
def test_a_run_says_that_a_model_hardly_knows_a_script(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "demo", "--suite", *suites(tmp_path), "-o", str(tmp_path / "run")]) == 0
    noted = capsys.readouterr().err
    assert "note: causal:demo hardly knows the script of zh: 100% of its tokens are unknown or parts of" in noted
    assert "script of en" not in noted


@pytest.mark.slow
def test_every_published_sample_is_scored_by_language(shared: Path) -> None:
    """All samples with a tiny byte-level model: the counts are those of the files."""
    folders = [str(path) for path in sorted((shared / "data" / "minimal_pairs").iterdir()) if path.is_dir()]
    names = [name for name in folders if not name.endswith(("li_adger", "scamp"))]
    found = sg.read_suites(*names)
    run = sg.evaluate(causal("gpt2", byte_level()), found, limit=2)
    rows = groups.make_table([run], by="language").rows
    expected: dict[str, int] = {}
    for suite in found:
        expected[suite.language.tag] = expected.get(suite.language.tag, 0) + 1
    assert {row[1]: row[3] for row in rows} == expected
    assert set(expected) == {"hi", "nl", "en", "de", "fr", "he", "id", "ta", "fr-CA", "ru", "zh", "tr"}


WORDS = ("<unk>", "<s>", "</s>", "a", "bird", "sings")


def few_words(folder: Path) -> str:
    """Write a unigram model of three words."""
    lines = [
        "\\data\\",
        f"ngram 1={len(WORDS)}",
        "",
        "\\1-grams:",
        *(f"-0.5\t{word}" for word in WORDS),
        "",
        "\\end\\",
        "",
    ]
    (folder / "few.arpa").write_text("\n".join(lines))
    return str(folder / "few.arpa")


def some_unknown(folder: Path) -> list[str]:
    """Write two suites: 5 of 14 tokens unknown, compared in one item of two, and 1 of 6, compared in the only item."""
    # "A" and "birds" are unknown, and "birds" stands in one sentence only; "Now" stands in both.
    rows = ["good\tbad", "A bird sings\tA birds sings", "Now a bird sings\tNow a sings bird"]
    (folder / "whole.tsv").write_text("\n".join(rows) + "\n")
    rows = [
        "item,condition,subject,verb",
        "#prediction,verb,(verb;%one%) < (verb;%many%)",
        "1,one,a bird,sings",
        "1,many,a bird,sing",
    ]
    (folder / "verb.csv").write_text("\n".join(rows) + "\n")
    return [str(folder / "verb.csv"), str(folder / "whole.tsv")]


def test_unknown_words_are_said_wherever_their_numbers_are(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(tmp_path / "run")
    assert (
        main(["run", few_words(tmp_path), "--suite", *some_unknown(tmp_path), "-o", folder, "--no-report", "-q"]) == 0
    )
    run = sg.open_run(folder)
    # 6 of 20 tokens; the first item of one suite, and the only one of the other.
    counts = f"{run.name}: 6 of 20 tokens unknown (30.0%), compared in 2 of 3 items"
    most = "Most in whole 36%, verb 17%; table coverage lists all."
    line = f"warning: {counts}: A (2), Now (2), birds (1), sing (1). {coverage.SCORED} {most}"
    assert capsys.readouterr().err.splitlines() == [line]
    for view in ("scores", "effects"):
        assert f"{counts}. {coverage.SCORED}" in sg.table(view, [run]).notes
    assert "6 of 20 tokens unknown" in " ".join(sg.figure("scores", [run]).spec["title"]["subtitle"])
    rows = [dict(zip(coverage.COLUMNS, row, strict=True)) for row in sg.table("coverage", [run]).rows]
    assert [(row["suite"], row["items"], row["unknown compared"]) for row in rows] == [("whole", 2, 1), ("verb", 1, 1)]
    warned = sg.compare(run, sg.open_run(folder)).warnings
    assert [warning.partition("#")[2][1:] for warning in warned] == [
        f"{counts[len(run.name) :]}. {coverage.SCORED}"
    ] * 2
    # "birds" differs before the compared region, which is why "sings" has the bits that it has.
    rows = ["item,condition,np,verb", "#prediction,p,(verb;%a%) < (verb;%b%)", "1,a,a bird,sings", "1,b,a birds,sings"]
    (tmp_path / "before.csv").write_text("\n".join([*rows, "2,a,Now a bird,sings", "2,b,Now bird,sings"]) + "\n")
    before = sg.evaluate(sg.load_model(few_words(tmp_path)), sg.read_suites(str(tmp_path / "before.csv")))
    assert [each.compared for each in coverage.unknown([before])] == [1]
    [only] = coverage.unknown([run], ["verb"])
    assert only.short == f"{run.name}: 1 of 6 tokens unknown (16.7%), compared in 1 of 1 item"
    # A page of one suite needs no list of suites.
    assert only.in_full == f"{only.short}: sing (1). {coverage.SCORED}"


def test_unknown_words_are_marked_on_pages(tmp_path: Path) -> None:
    model = sg.load_model(few_words(tmp_path))
    run = sg.evaluate(model, sg.read_suites(*some_unknown(tmp_path)))
    site = Site([run])
    assert "6 of 20 tokens unknown" in site.page((), Served()).alerts()[0].content
    assert "1 of 6 tokens unknown" in site.page(("suite", "verb"), Served()).alerts()[0].content
    # "A birds sings": the first two are unknown; log2(10 ** 0.5) is 1.66.
    page = site.page(("suite", "whole", "0"), Served())
    row = page.sentences[0].row(1, named=True)
    marked = items.strip(row, {"prefix": 0, "critical": 1, "rest": 2}, [])
    assert [cell.partition("<small>")[2].partition("<")[0] for cell in marked.split("<bdi>")[1:]] == [
        "1.66 unk",
        "1.66 unk",
        "1.66",
    ]
    assert marked.count('<span class="token h0 unknown">') == 2
    assert explained(site, "whole") == [True, True]
    assert " unk</small>" in items.word_strip([("A", 0.0, False)])
    assert " unk" not in items.word_strip([("a", 0.0, True)])
    [subject] = [each for each in numbers.subjects(scores.columns([run])) if each.name == "whole"]
    [first] = [item for item in items.pick(subject).items(0, 9).values() if item["id"] == "0"]
    assert [sentence[5:] for sentence in first["sentences"]] == [[[0]], [[0, 1]]]


def explained(site: Site, suite: str) -> list[bool]:
    """Return whether a page of an item, and the report, explain the mark."""
    chapter = site.chapter
    assert isinstance(chapter, Evidence)
    assert TOKENS.show
    assert SUITE_BY_SUITE.show
    shown = TOKENS.show(site.page(("suite", suite, "0"), Served())), SUITE_BY_SUITE.show(chapter)
    return [variables["unknown"] for variables in shown]


def test_a_model_that_knows_all_words_is_not_spoken_of(tmp_path: Path) -> None:
    (tmp_path / "known.tsv").write_text("good\tbad\na bird sings\tbird a sings\n")
    run = sg.evaluate(sg.load_model(few_words(tmp_path)), sg.read_suites(str(tmp_path / "known.tsv")))
    assert (coverage.describe([run]), [*coverage.unknown([run])]) == ("", [])
    assert explained(Site([run]), "known") == [False, False]
    assert [note for note in sg.table("scores", [run]).notes if "unknown" in note] == []
