"""The record of numbers: what is the same, what differs, and what was renamed on purpose."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from golden import compare, normal
from golden.record import Command, Views
from golden.steps import STEPS


def record(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        path = folder / "kept" / "tables" / name.replace("__", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (folder / "record.json").write_text(json.dumps({"surroundings": {}}))
    return folder


@pytest.fixture
def renamed(tmp_path: Path) -> Path:
    path = tmp_path / "renames.csv"
    path.write_text(
        "where,old,new,reason\nview,flips,discordant,\nview,cut_offs,nucleus,\ntables/*.csv,accuracy,share,\n"
        "*/run.json,.kind,,\n*/run.json,,.task,\nfile,table3,table_3,\nfile,*/gone*,,\n"
    )
    return path


def test_one_digit_is_a_difference(tmp_path: Path, renamed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = record(tmp_path / "old", scores__csv="suite,n\nmvrr,28\n", page__md="28 items\n")
    new = record(tmp_path / "new", scores__csv="suite,n\nmvrr,29\n", page__md="29 items\n")
    assert compare.compare(old, old, path=renamed) == 0
    assert compare.compare(old, new, path=renamed) == 2
    assert compare.compare(old, new, ["numbers"], renamed) == 1
    shown = capsys.readouterr().out
    assert "- mvrr,28\n  + mvrr,29" in shown
    assert "different: 1 of numbers\n" in shown


def test_what_was_renamed_is_the_same(tmp_path: Path, renamed: Path) -> None:
    old = record(
        tmp_path / "old",
        scores__csv="suite,accuracy\n",
        run__json='.kind\t"fill"\n.n\t1\n',
        table3__csv="a\n",
        gone_for_good__csv="b\n",
        it__said="syntagm table flips of 3 flips: cut_offs.csv\n",
    )
    new = record(
        tmp_path / "new",
        scores__csv="suite,share\n",
        run__json='.task\t"gaps"\n.n\t1\n',
        table_3__csv="a\n",
        it__said="syntagm table discordant of 3 flips: nucleus.csv\n",
    )
    assert compare.compare(old, new, path=renamed) == 0
    empty = tmp_path / "nothing.csv"
    empty.write_text("where,old,new,reason\n")
    # The header, the key, the name of a view, and three files of which each is on one side only.
    assert compare.compare(old, new, path=empty) == 6


def test_what_is_kept_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(
        '{"started": "2026-01-02T03:04:05+00:00", "versions": {}, "n": [1, {"a": null}]}'
    )
    (tmp_path / "page.html").write_text(
        "<style>p {}</style><p>Score <b>0.5</b> &amp; more, Syntagm 1.2.3</p>"
        '<a download="a.csv" href="data:text/csv,n%0A1">CSV</a>'
        '<script type="application/json" id="items-1">{"bits": 2.5}</script><script>let n = 7</script>'
    )
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    (tmp_path / "lock").touch()
    found = normal.kept(sorted(tmp_path.iterdir()), tmp_path, {})
    assert found["run.json"] == ".n[0]\t1\n.n[1].a\tnull\n"
    assert found["page.html.txt"] == "Score\n0.5\n& more, Syntagm VERSION\nCSV\n"
    assert found["page.html.txt.numbers"] == "0.5\n"
    assert found["page.html.data"] == "# items-1\n.bits\t2.5\n# a.csv\nn\n1\n"
    assert len(found["model.safetensors.sha256"]) == 65
    assert "lock" not in found


def test_lines_by_the_clock_are_not_kept(tmp_path: Path) -> None:
    lines = "12 of 40 sentences, 5 per second, 6 s left\nstep 2 of 48, loss 2.5, rate 0.1, 5,642 tokens/s, 0 min left at most\n"
    (tmp_path / "a_2026-01-02T03-04-05-abc.said").write_text(f"{lines}12 of 40 flipped items, 2 left out\n")
    found = normal.kept([*tmp_path.iterdir()], tmp_path, {})
    assert found["a_TIME-abc.said"] == "12 of 40 flipped items, 2 left out\n"
    assert found["a_TIME-abc.said.numbers"] == "12\n40\n2\n"


def test_a_view_that_no_step_asks_for_has_one_of_its_own() -> None:
    """The checkout calls the table `discordant` as it did before, and has a view that nobody listed."""

    def checkout(words: str) -> SimpleNamespace:
        views = (
            "flips     of old\nscores    of suites\nlately    new\n"
            if words.startswith("table")
            else "scores  of suites\n"
        )
        return SimpleNamespace(stdout=views)

    [step] = Views(cast(Command, checkout)).unasked()
    assert (step.out, step.views, step.quick) == ("tables/lately-plain", [("table", "lately")], True)
    runs = step.command.removeprefix("table lately ").removesuffix(" -o {out}").split()
    assert {one.out for one in STEPS if one.quick} > set(runs)


def test_steps_have_names_of_their_own_and_quick_ones_rest_on_quick_ones() -> None:
    names = [one.out for one in STEPS]
    assert len(set(names)) == len(names)
    for at, one in enumerate(STEPS):
        used = {
            word.partition("?")[0].strip("'").removeprefix("ngram:").removeprefix("recorded:")
            for word in one.command.split()
        }
        assert used.isdisjoint(names[at:]), f"{one.out} uses what is made later"
        if one.quick:
            slow = {other.out for other in STEPS if not other.quick}
            assert used.isdisjoint(slow), f"{one.out} is quick"
