"""The pages in a folder: the numbers of the server, links that lead to files, and nothing of others overwritten."""

import csv
import io
import os
import posixpath
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from urllib.parse import unquote

import pytest
from report_examples import ATTACKS, Reader, hostile
from toy_runs import agreement, interrupt, pairs, toy_run

from syntagm.cli import main
from syntagm.core import RunError, UsageError, integrity
from syntagm.report import Served, Site, write_pages
from syntagm.report.site.folder import contents
from syntagm.runs import Run

PLAIN = pairs("plain", ("the dog barks", "the dog bark"), ("the cats sleep", "the cats sleeps"))


def links_of(page: Path) -> list[str]:
    elements = Reader(page.read_text("utf-8")).elements
    found = [element.get(name) or "" for _, element in elements for name in ("href", "src")]
    return [unquote(link.partition("#")[0]) for link in found if link and not link.startswith("#")]


def files_of(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.slow
def test_every_link_leads_to_a_file_and_every_file_is_linked(tmp_path: Path) -> None:
    runs = [toy_run(tmp_path / name, agreement(), PLAIN, model=name) for name in ("toy", "random")]
    folder = write_pages(runs, tmp_path / "pages").parent
    led = {"index.html", "pages.json"}
    for path in folder.rglob("*.html"):
        for link in links_of(path):
            target = posixpath.normpath(posixpath.join(path.parent.relative_to(folder).as_posix(), link))
            assert (folder / target).is_file(), (path, link)
            led.add(target)
    assert led == files_of(folder)
    assert {"suite/01-agreement.html", "suite/01-agreement/02-2.html", "suite/02-plain.csv"} <= led


@pytest.mark.slow
def test_the_numbers_are_those_of_the_export(tmp_path: Path) -> None:
    toy_run(tmp_path / "run", agreement(), PLAIN)
    write_pages(tmp_path / "run", tmp_path / "pages")
    assert main(["export", str(tmp_path / "run"), "--as", "results", "-o", str(tmp_path / "all.csv")]) == 0
    exported = list(csv.DictReader(io.StringIO((tmp_path / "all.csv").read_text())))
    assert len(exported) == 8
    for row in exported:
        number = {"agreement": "01", "plain": "02"}[row["suite"]]
        text = (tmp_path / "pages" / "suite" / f"{number}-{row['suite']}.csv").read_text()
        rows = list(csv.DictReader(io.StringIO(text)))
        [same] = [one for one in rows if (one["item"], one["measure"]) == (row["item"], row["measure"])]
        assert (same["value"], same["margin"]) == (row["value"], row["margin"])
        if row["measure"] == "verb" or row["suite"] == "plain":
            assert (
                f"{float(row['margin']):+.2f}"
                in (tmp_path / "pages" / "suite" / f"{number}-{row['suite']}.html").read_text()
            )


def test_a_model_that_hardly_knows_a_script_is_warned_of_beside_its_numbers(tmp_path: Path) -> None:
    japanese = pairs("助動詞", ("猫が魚を食べている。", "猫が魚を食べてある。"))
    site = Site([toy_run(tmp_path / "run", japanese, PLAIN)])
    shown = {subject.name: site.page(("suite", key), Served()).alerts() for key, subject in site.suites.items()}
    assert [alert.content.striptags() for alert in shown["助動詞"][1:]] == [
        "Hardly known. 100% of the tokens of toy:12-sentences are unknown or parts of characters: it has hardly seen this "
        "script, and its scores say little about the language."
    ]
    assert shown["plain"] == []


@pytest.mark.slow
def test_a_folder_of_others_is_refused_and_stale_pages_go(tmp_path: Path) -> None:
    run = toy_run(tmp_path / "run", agreement(), PLAIN)
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "letter.txt").write_text("Dear")
    with pytest.raises(UsageError, match="a folder with other files"):
        write_pages(run, tmp_path / "taken")
    write_pages(run, tmp_path / "pages")
    (tmp_path / "pages" / "note.txt").write_text("mine")
    write_pages(toy_run(tmp_path / "other", agreement()), tmp_path / "pages")
    files = files_of(tmp_path / "pages")
    assert not [name for name in files if "plain" in name]
    assert "note.txt" in files
    (tmp_path / "pages" / "suite" / "01-agreement.html").write_text("edited")
    [inspected] = integrity.of_folder(tmp_path / "pages")
    assert [finding.path.name for finding in inspected.findings if finding.state == "damaged"] == ["01-agreement.html"]
    (tmp_path / "pages" / "pages.json").write_text("{}")
    with pytest.raises(RunError):
        write_pages(run, tmp_path / "pages")


@pytest.mark.slow
def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    run = toy_run(tmp_path / "run", agreement())
    write_pages(run, tmp_path / "pages")
    (tmp_path / "elsewhere").mkdir()
    for path in sorted((tmp_path / "pages" / "run").iterdir()):
        path.unlink()
    (tmp_path / "pages" / "run").rmdir()
    os.symlink(tmp_path / "elsewhere", tmp_path / "pages" / "run")
    with pytest.raises(RunError, match="a link to"):
        write_pages(run, tmp_path / "pages")
    assert not list((tmp_path / "elsewhere").iterdir())


@pytest.mark.slow
def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    toy_run(tmp_path / "run", agreement())
    interrupt(tmp_path / "run", 0)
    assert main(["report", str(tmp_path / "run"), "-o", f"{tmp_path / 'pages'}/"]) == 1
    assert capsys.readouterr().out == f"{tmp_path / 'pages' / 'index.html'}\n"
    # An existing folder needs no slash.
    assert main(["report", str(tmp_path / "run"), "-o", str(tmp_path / "pages")]) == 1
    assert (
        main(["report", str(tmp_path / "run"), "-o", f"{tmp_path / 'pages'}/", "--figures", str(tmp_path / "f")]) == 2
    )
    assert "The folder has the figures beside their pages" in capsys.readouterr().err


@pytest.mark.slow
def test_hostile_names_stay_in_the_folder(tmp_path: Path) -> None:
    run: Run = hostile(tmp_path / "run")
    folder = write_pages(run, tmp_path / "pages").parent
    assert {path.name for path in tmp_path.iterdir()} == {"run", "pages"}
    assert len(list((folder / "suite").glob("*.html"))) == len(ATTACKS) + 1
    for path in folder.rglob("*.html"):
        elements = Reader(path.read_text("utf-8")).elements
        assert [element.get("src", "").rpartition("/")[2] for tag, element in elements if tag == "script"] == [
            "script.js"
        ]
        assert not [tag for tag, _ in elements if tag in ("img", "iframe", "object", "style")]


@pytest.mark.slow
def test_the_same_command_goes_on_after_a_kill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = toy_run(tmp_path / "run", agreement())
    expected = write_pages(run, tmp_path / "whole").parent

    def killed(site: Site) -> Iterator[tuple[str, bytes]]:
        yield from islice(contents(site), 5)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("syntagm.report.site.folder.contents", killed)
        with pytest.raises(KeyboardInterrupt):
            write_pages(run, tmp_path / "pages")
    assert len(files_of(tmp_path / "pages")) == 6
    write_pages(run, tmp_path / "pages")
    for name in files_of(expected):
        assert (tmp_path / "pages" / name).read_bytes() == (expected / name).read_bytes()
