"""Faults put into copies of templates and of the lexicon: each is caught, by reading, by `check` or by the validator."""

import re
import shutil
import tomllib
from pathlib import Path
from typing import Any

import pytest

import syntagm as sg
from syntagm.core import SyntagmError
from syntagm.suites import violations

pytest.importorskip("lemminflect")

from . import material, pairs

LEXICON = material.FOLDER.parent / "lexicon" / "english"
FAULTS = tomllib.loads(Path(__file__).with_name("faults.toml").read_text(encoding="utf-8"))


def catch(folder: Path, uid: str) -> list[str]:
    """Return what is found in the template of a folder: the refusal, or errors of `check`, or findings."""
    file = folder / f"{uid}.toml"
    try:
        suites = sg.read_suites(f"{file}?n=160")
        found = [str(finding) for finding in violations(suites) if finding.error]
        for _, records in material.records(suites, folder):
            found += [f"{rule}: {text}" for rule, _, text in pairs.faults(uid, records, material.cells(file))]
    except SyntagmError as error:
        return [f"refused: {error}"]
    return found


def put(text: str, fault: dict[str, Any]) -> str:
    for edits, count in ((fault.get("edits", ()), 1), (fault.get("every", ()), 0)):
        for old, new in edits:
            text = replaced(text, old, new, count)
    return text


def replaced(text: str, old: str, new: str, count: int = 1) -> str:
    changed = re.sub(old, new, text, count=count)
    assert changed != text, f"nothing like {old}"
    return changed


@pytest.mark.slow
def test_the_templates_pass_without_the_faults(tmp_path: Path) -> None:
    assert len(FAULTS) >= 30
    for uid in sorted({fault["paradigm"] for fault in FAULTS.values()}):
        shutil.copy(material.FOLDER / f"{uid}.toml", tmp_path)
        assert (uid, catch(tmp_path, uid)) == (uid, [])


@pytest.mark.slow
@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_caught(name: str, tmp_path: Path) -> None:
    fault = FAULTS[name]
    uid = fault["paradigm"]
    text = (material.FOLDER / f"{uid}.toml").read_text(encoding="utf-8")
    (tmp_path / f"{uid}.toml").write_text(put(text, fault), encoding="utf-8")
    if "table" in fault:
        shutil.copytree(LEXICON, tmp_path / "english")
        table = tmp_path / "english" / fault["table"]
        table.write_text(replaced(table.read_text(encoding="utf-8"), *fault["row"]), encoding="utf-8")
    assert catch(tmp_path, uid)
