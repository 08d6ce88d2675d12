"""The methods paragraphs on a page say what `syntagm cite` writes, and nothing of the materials becomes markup."""

import html
import re
from pathlib import Path

import pytest
from report_examples import ATTACKS, hostile
from toy_runs import agreement, pairs, toy_run

from syntagm.report import methods, references, report


def plain(marked: str) -> str:
    return html.unescape(re.sub(r"<[^>]+>", "", marked))


@pytest.mark.slow
def test_the_page_has_every_paragraph_of_cite(tmp_path: Path) -> None:
    runs = [toy_run(tmp_path / "a", agreement(), pairs("plain", ("the dog barks", "the dog bark")))]
    record = report(runs, tmp_path / "page.html").read_text("utf-8").partition('<section id="record">')[2]
    for one in methods.paragraphs(runs):
        words = re.sub(r"\\(.)", r"\1", re.sub(r" \[@[^\]]+\]", "", one).replace("`", ""))
        shown = re.sub(r" \((?:[^()]*\b(?:19|20)\d\d)\)", "", plain(record))
        assert words in shown
    assert "(Hale 2001; Levy 2008)" in record
    assert "@article{levy-2008-expectation," in record
    assert "suite plain names no source" in record


def test_every_entry_can_be_cited_by_author_and_year() -> None:
    for key in references.entries():
        assert re.fullmatch(r"[\w -]+( et al\.| & [\w -]+)? (19|20)\d\d", methods.short(key))


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_stays_text(attack: str) -> None:
    made = methods.paragraph_html(f"For `{attack}` and {attack} [@{attack}].")
    assert set(re.findall(r"</?(\w+)", made)) <= {"code", "bdi"}


def test_a_hostile_run_has_its_paragraphs(tmp_path: Path) -> None:
    said = methods.methods_text([hostile(tmp_path)])
    assert len(said.paragraphs) == 4
    assert {tag for one in said.paragraphs for tag in re.findall(r"</?(\w+)", one)} <= {"code", "bdi"}
