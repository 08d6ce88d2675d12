"""What a package index and a citation say of Syntagm, and that the wheel is the same from the tree and from the sdist."""

import importlib.util
import json
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
DATA = {".csv", ".toml", ".txt", ".safetensors", ".bib"}


@pytest.fixture(scope="module")
def build() -> ModuleType:
    pytest.importorskip("hatchling")
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_description_on_an_index_has_no_relative_link(build: ModuleType) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    relative = re.compile(r"\]\((?!https?:|#|mailto:)")
    assert relative.search(text)
    for base in ("", "https://forge.example/owner/syntagm/blob/v1"):
        assert not relative.search(build.linked(text, base))
    assert build.linked("[a](docs/a.md) ![b](b.png) [c](https://c) [d](#d)", "") == "a  [c](https://c) [d](#d)"
    assert build.linked("[a\nb](docs/a.md)", "https://f") == "[a\nb](https://f/docs/a.md)"


def test_the_citation_is_of_this_version() -> None:
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (.*)$", text, re.MULTILINE) == [PROJECT["project"]["version"]]
    assert 'name: "The Syntagm developers"' in text


def test_every_bundled_datum_has_a_licence() -> None:
    text = (ROOT / "LICENSES.md").read_text(encoding="utf-8")
    named = {place for row in re.findall(r"^\|.*\|$", text, re.MULTILINE) for place in re.findall(r"`([\w./*]+)`", row)}
    package = ROOT / "syntagm"
    covered = {
        path
        for place in named - {"suites/materials/", "suites/materials/lexicon/"}
        for path in package.glob(place.rstrip("/"))
    }
    # References of a bibliography are facts; texts of the program's pages are the program.
    data = [path for path in package.rglob("*") if path.suffix in DATA and path.name != "references.bib"]
    left = [path.relative_to(package).as_posix() for path in data if not covered & {path, *path.parents}]
    assert left == []


def test_the_licences_of_packed_browser_code(build: ModuleType, tmp_path: Path) -> None:
    """With its text where a package has one, otherwise as its package.json says; none of packages for development."""
    lock = {"packages": {"": {}, "node_modules/a": {}, "node_modules/@b/c": {}, "node_modules/tool": {"dev": True}}}
    (tmp_path / "package-lock.json").write_text(json.dumps(lock))
    for name in ("a", "@b/c", "tool"):
        (tmp_path / "node_modules" / name).mkdir(parents=True)
        about = {"name": name, "version": "1.2.0", "license": "MIT", "author": {"name": "Ann"}}
        (tmp_path / "node_modules" / name / "package.json").write_text(json.dumps(about))
    (tmp_path / "node_modules/a/LICENSE").write_text("Copyright Ann\n")
    assert build.licences(tmp_path) == "# @b/c 1.2.0\n\nLicence: MIT. Author: Ann.\n\n\n# a 1.2.0\n\nCopyright Ann\n"


@pytest.mark.slow
def test_the_wheel_is_the_same_from_the_sdist(tmp_path: Path) -> None:
    pytest.importorskip("hatchling")
    done = subprocess.run(
        [sys.executable, "-m", "tools.package", str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "not the same" not in done.stdout
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".gz", ".whl"]
    if shutil.which("npm"):
        [path] = tmp_path.glob("*.whl")
        with zipfile.ZipFile(path) as wheel:
            for room in ("experiment", "studio"):
                assert f"syntagm/{room}/pages/lib/LICENSES.txt" in wheel.namelist()
            style = wheel.read("syntagm/experiment/pages/lib/jspsych.css").decode()
        assert ".jspsych-btn" in style
        assert "@font-face" not in style, "fonts are the system's; they were 98 % of the file"
