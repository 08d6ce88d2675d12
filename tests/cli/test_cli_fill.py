"""`syntagm fill`, as a user meets it."""

import csv
from pathlib import Path

import pytest
from toy_runs import edit_record

from syntagm.cli import main
from syntagm.cli.fill import show
from syntagm.runs import Run, open_run

LIST = "lemma,form:singular,form:plural\nbark,barks,bark\nsleep,sleeps,sleep\nhum,hums,hum\n"
PAIRS = (
    "id\tgood\tbad\n1\tThe dog barks.\tThe dog bark.\n2\tThe dogs bark.\tThe dogs barks.\n3\tIt rains.\tThey rain.\n"
)


@pytest.fixture
def line(tmp_path: Path) -> list[str]:
    (tmp_path / "list.csv").write_text(LIST)
    (tmp_path / "agreement.tsv").write_text(PAIRS)
    suite, words, run = (str(tmp_path / name) for name in ("agreement.tsv", "list.csv", "run"))
    return ["fill", "toy", "--suite", suite, "--words", words, "-o", run]


def test_from_suites_to_the_table(line: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # With one added to each count: after "dog" barks has 3 and bark, sleeps and sleep 1 each; after "dogs" bark has 3. Of
    # two known rows one is right and one is a tie: .5; of the mass 3 + 1 of 3 + 1 + 1 + 1 is right. `hum` is unknown.
    assert main(line) == 0
    shown = capsys.readouterr()
    [row] = [text.split("│")[1:-1] for text in shown.out.splitlines() if "agreement " in text and "│" in text]
    cells = [cell.strip() for cell in row]
    assert [cells[0], cells[1], cells[3], *cells[7:]] == ["agreement", "2", "2", "0.000", "2"]
    assert [cells[number].split()[0] for number in (2, 4, 5)] == ["1.000", "0.500", "0.667"]
    assert "1 suite, 2 contexts" in shown.err
    assert "agreement: 1 without a context: more than one word differs" in " ".join(shown.err.split())
    with (tmp_path / "run" / "results.csv").open() as file:
        rows = [(row["item"], row["measure"], float(row["value"])) for row in csv.DictReader(file)]
    assert rows[0] == ("1", "tse", 1.0)
    assert ("1", "model_weight", pytest.approx(4 / 6)) in rows


def test_the_same_line_again_shows_the_same(line: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(line) == 0
    first = capsys.readouterr()
    assert main(line) == 0
    second = capsys.readouterr()
    assert second.out == first.out
    assert "2 of them already finished" in second.err


@pytest.mark.slow
def test_cut_offs(line: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*line, "--top", "0.9,0.5", "--bottom", "published", "--eligible", "single-token"]) == 0
    shown = " ".join(capsys.readouterr().err.split())
    # All rows that count are of single tokens.
    assert "note: results.csv has the numbers at cut-offs" in shown
    assert "single tokens" not in shown
    with (tmp_path / "run" / "results.csv").open() as file:
        measures = {row["measure"] for row in csv.DictReader(file)}
    assert {"equal_weight(top=0.9)", "equal_weight(top=0.5)", "model_weight(bottom=1e-06)"} <= measures
    assert len(measures) == 1 + 2 * (1 + 2 + 7)


def test_estimates_under_several_masks_are_called_so(
    line: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(line) == 0
    assert "masks=several" not in capsys.readouterr().err
    model = open_run(tmp_path / "run").record["model"]
    edit_record(tmp_path / "run", model=model | {"policies": model["policies"] | {"masks": "several"}})
    run = open_run(tmp_path / "run")
    assert isinstance(run, Run)
    show(run)
    assert "model_weight and covered mix what can't be compared" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--top", "most"], "--top: 'most'; expected probability masses such as 0.9 0.5"),
        (["--top", "90"], "top cut-off: 90.0; expected a share"),
        (["--words", "nouns"], "word list nouns: no such file"),
    ],
)
def test_what_cannot_be_done_is_said(
    line: list[str], more: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*line, *more]) == 2
    assert message in capsys.readouterr().err


def test_constructions_are_pooled(line: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    template = '{{"sentence_good": "{} barks", "sentence_bad": "{} bark", "label": -1}}\n'
    for name, subject in (("prep_anim_all", "the dog"), ("prep_inanim_all", "the cat")):
        (tmp_path / f"{name}.jsonl").write_text(template.format(subject, subject))
    suites = [str(tmp_path / f"{name}.jsonl") for name in ("prep_anim_all", "prep_inanim_all")]
    assert main(["fill", "toy", "--suite", *suites, *line[4:]]) == 0
    shown = capsys.readouterr().out
    [row] = [text for text in shown.splitlines() if "│ Across prepositional phrase" in text]
    assert "Across prepositional phrase: only 2 items." in shown
    assert [cell.strip() for cell in row.split("│")][4] == "2"


def test_other_commands_on_a_fill_run(line: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = str(tmp_path / "run")
    assert main(line) == 0
    capsys.readouterr()
    assert main(["compare", run, run, "--measure", "tse"]) == 0
    assert main(["export", run, "--as", "results", "-o", "-"]) == 0
    assert capsys.readouterr().out.endswith((tmp_path / "run" / "results.csv").read_text())
    assert main(["report", run]) == 0
    capsys.readouterr()
    for kind in ("tokens", "regions"):
        assert main(["export", run, "--as", kind, "-o", "-"]) == 2
        shown = capsys.readouterr()
        # Not even a header stands on the standard output.
        assert (shown.out, f"a run of the task gaps has no {kind}" in shown.err) == ("", True)
