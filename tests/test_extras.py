"""What is said where a package of an extra is missing, and that the core needs none of them."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from syntagm.cli import main
from syntagm.core import InputError, UsageError, extras

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
# Modules that have another name than their package.
MODULES = {"argon2-cffi": "argon2"}
# A finder that makes the packages of extras impossible to import, as in an environment with the core only.
CORE_ONLY = """
import sys
from importlib.machinery import PathFinder
from syntagm.core import extras
GONE = {module for modules in extras.EXTRAS.values() for module in modules} | {"accelerate", "pandas"}
class Core(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.partition(".")[0] in GONE else super().find_spec(name, path, target)
sys.meta_path = [Core if one is PathFinder else one for one in sys.meta_path]
"""


def core_only(program: str, place: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", CORE_ONLY + program], cwd=place, capture_output=True, text=True, check=False
    )


def test_the_table_of_extras_is_that_of_the_package() -> None:
    declared = {}
    for extra, requirements in PROJECT["optional-dependencies"].items():
        names = [re.split(r"[<>=\[;]", one)[0] for one in requirements]
        declared[extra] = {MODULES.get(name, name.replace("-", "_")) for name in names} - {"syntagm", "accelerate"}
    listed = {extra: set(modules) for extra, modules in extras.EXTRAS.items()}
    assert listed == {extra: declared[extra] for extra in listed}
    assert set(declared) - set(listed) == {"all", "dev", "docs", "fuzz"}


def test_the_core_needs_no_package_of_an_extra() -> None:
    core = {re.split(r"[<>=\[]", one)[0].replace("-", "_") for one in PROJECT["dependencies"]}
    assert not core & {module for modules in extras.EXTRAS.values() for module in modules}


def test_a_missing_package_is_one_line_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "installed", lambda module: False)
    with (
        pytest.raises(InputError) as raised,
        extras.needed("sheet.xlsx", InputError, "save the sheet as CSV", "a workbook"),
    ):
        raise ModuleNotFoundError("No module named 'fastexcel'", name="fastexcel")
    assert str(raised.value) == (
        "sheet.xlsx: a workbook, and the package fastexcel is not installed. "
        "Install it: pip install 'syntagm[excel]', or save the sheet as CSV."
    )
    with pytest.raises(ModuleNotFoundError), extras.needed("here"):
        raise ModuleNotFoundError("No module named 'other'", name="other")  # of no extra


@pytest.mark.parametrize("name", ["torch", "starlette"])
def test_an_import_that_fails_within_an_installed_package_stays_what_it_is(name: str) -> None:
    with pytest.raises(ModuleNotFoundError), extras.needed("here"):
        raise ModuleNotFoundError(f"No module named '{name}.lost'", name=f"{name}.lost")


@pytest.mark.slow
def test_without_extras(tmp_path: Path) -> None:
    """The core evaluates, makes tables and figures, and everything else is refused in a line; nothing is left behind."""
    program = """
import contextlib, io
from syntagm.cli import main
def said(*words):
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as err:
        code = main([*words])
    return f"{code} {(err.getvalue().strip().splitlines() or [''])[-1]}"
print(said("run", "random?seed=1", "--suite", "hu2020/mvrr?n=4", "-o", "run"))
print(said("table", "scores", "run", "-o", "scores"))
print(said("integrity", "run"))
print(said("run", "demo", "--suite", "hu2020/mvrr", "-o", "demo"))
print(said("train", "lstm", "--corpus", "excerpt", "--valid", "excerpt", "-o", "lstm"))
print(said("serve", "run"))
print(said("check", "hf:org/data"))
from syntagm import *
try:
    EvaluationCallback(None, [], "x", every=1)
except Exception as error:
    print(type(error).__name__)
"""
    done = core_only(program, tmp_path)
    assert done.returncode == 0, done.stderr
    run, table, integrity, demo, lstm, serve, hub, callback = done.stdout.splitlines()
    assert (run[0], table[0], integrity[0]) == ("0", "0", "0"), done.stdout
    models = "is not installed. Install it: pip install 'syntagm[models]'"
    assert demo.startswith("2 syntagm: model demo: the package ")
    assert demo.endswith(models)
    assert lstm.startswith("2 syntagm: train: the package torch ")
    assert lstm.endswith(models)
    assert serve.endswith("is not installed. Install it: pip install 'syntagm[serve]'")
    assert hub.startswith("2 syntagm: hf:org/data: ")
    assert models in hub
    assert callback == "UsageError"
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "run", "scores.csv", "scores.md", "scores.tex",
    ]  # fmt: skip


@pytest.mark.slow
def test_selftest_of_the_core(tmp_path: Path) -> None:
    program = "from syntagm.cli import main, selftest\n"
    program += "selftest.CHECKS = {name: selftest.CHECKS[name] for name in ('versions', 'numbers', 'run', 'locks')}\n"
    done = core_only(program + "sys.exit(main(['selftest']))", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["ok", "absent", "ok", "ok", "3"]


def test_a_report_names_nobody(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from syntagm.cli import selftest

    pairs = tmp_path / "secret_suite.tsv"
    pairs.write_text("good\tbad\nThe keys are here.\tThe keys is here.\n")
    (tmp_path / "secret_list.csv").write_text("suite,item\n")
    home = tmp_path / "home" / "ann"
    home.mkdir(parents=True)
    assert main(["run", "toy", "--suite", str(pairs), "-o", str(tmp_path / "run"), "--no-report", "--no-cache"]) == 0
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("SYNTAGM_CACHE", raising=False)
    monkeypatch.setattr(selftest, "CHECKS", {"write access": selftest._writing})
    capsys.readouterr()
    assert main(["selftest", str(tmp_path), "--report", "--run", str(tmp_path / "run")]) == 0
    said = capsys.readouterr().out
    assert re.search(r"\* signature: MODEL\|toy\|bos:yes.*\|SUITE@[0-9a-f]{8}\|MEASURE\|sum\|syntagm:", said)
    assert "secret" not in said, said
    assert str(home) not in said, said
    assert re.search(r"\* packages: .*numpy \d", said)
    assert "~/.cache/syntagm" in said
    with pytest.raises(UsageError, match="without --report"):
        selftest.run(_given(tmp_path))


def _given(place: Path):  # type: ignore[no-untyped-def]
    import argparse

    return argparse.Namespace(folder=place, report=False, of=place)
