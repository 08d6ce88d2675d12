"""`run --exclude` and `run --language`: items are left out by a list, counted, and part of the signature."""

from pathlib import Path

import pytest

from syntagm.cli import main
from syntagm.core import InputError
from syntagm.runs import open_run
from syntagm.suites import Item, Sentence, Suite, excluded, exclusion_of, without

ROWS = "good\tbad\nIda sings well.\tIda sing well.\nBo hums a tune.\tBo hum a tune.\nAda sees it.\tAda see it.\n"


def run(folder: Path, listed: str, *more: str) -> int:
    (folder / "kites.tsv").write_text(ROWS)
    (folder / "list.csv").write_text(listed)
    paths = ["--suite", str(folder / "kites.tsv"), "--exclude", str(folder / "list.csv"), "-o", str(folder / "run")]
    return main(["run", "toy", *paths, *more])


@pytest.mark.slow
def test_excluded_items_are_counted_and_signed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path, "suite,item\nkites,1\n", "--language", "eng") == 0
    assert f"1 item excluded by {tmp_path / 'list.csv'}" in capsys.readouterr().err
    opened = open_run(tmp_path / "run")
    assert opened.results("kites")["item"].to_list() == ["0", "2"]
    [suite] = opened.suites
    assert suite.tags["language"] == "en"
    count, total, digest = exclusion_of(suite.tags) or (0, 0, "")
    assert (count, total) == (1, 3)
    assert f"|exclude:1@{digest}|" in str(opened.signature("kites", "full_sentence"))


@pytest.mark.parametrize(
    ("listed", "message"),
    [
        ("suite,item\nkite,1\n", "--exclude: the suite 'kite', which is not evaluated"),
        ("suite,item\nkites,7\n", "--exclude: no item '7' in the suite kites"),
        ("suite,item\nkites,0\nkites,1\nkites,2\n", "all items of the suite kites"),
        ("suite,item\nkites,1\nkites,1\n", "line 3: the item of line 2 again"),
        ("suite,id\nkites,1\n", "line 1: suite,id; expected suite,item"),
    ],
)
def test_a_list_that_does_not_fit_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], listed: str, message: str
) -> None:
    assert run(tmp_path, listed) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "run" / "run.json").exists()


def test_another_list_of_as_many_items_is_told_apart(tmp_path: Path) -> None:
    items = tuple(Item(str(number), {"a": Sentence("x")}) for number in range(3))
    suite = Suite("s", items, ())
    tags = {without(suite, {name}).tags["exclusion"] for name in ("0", "1")}
    assert len(tags) == 2
    assert without(suite, {"9"}) is suite
    (tmp_path / "a.csv").write_text("suite,item\ns,\n")
    with pytest.raises(InputError, match="line 2: an empty cell"):
        excluded.read(tmp_path / "a.csv")
