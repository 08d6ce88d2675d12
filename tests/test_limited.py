"""Trials of work that may never end: limits of time and memory, other ends of the process, threads, no process at all."""

import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from syntagm.io import limited


def problem(function: str, argument: object) -> str:
    return limited.problem(function, argument, seconds=1, gigabytes=1)


@pytest.mark.parametrize(
    ("function", "argument", "message"),
    [
        ("builtins:str", "", ""),
        ("builtins:str", "it is \ud800 odd", "it is \ud800 odd"),
        ("builtins:eval", "print('lost') or ''", ""),
        # The work itself raises it, too, and then it is said.
        ("builtins:int", "x", ""),
        ("builtins:eval", "bytearray(2 << 30)", "it takes more than 1 GB of memory"),
        # A panic of a library in Rust is no Exception, either.
        ("sys:exit", "3", "it raises SystemExit: 3"),
        ("os:_exit", 7, "it takes more than 1 GB of memory, or ends the process (exit status 7)"),
    ],
)
def test_what_is_wrong(function: str, argument: object, message: str) -> None:
    assert problem(function, argument) == message


@pytest.mark.slow
def test_work_without_end() -> None:
    assert problem("builtins:eval", "9**9**9") == "it takes more than 1 seconds"
    # A process that waits computes nothing.
    assert problem("time:sleep", 1000) == "it takes more than 1 seconds"


@pytest.mark.slow
def test_trials_in_threads() -> None:
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(lambda word: problem("builtins:str", word), "abcd")) == list("abcd")


@pytest.mark.parametrize("program", ["", "/nowhere/python", "/bin/false"])
def test_where_no_process_can_be_started_there_is_no_trial(program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", program)
    assert problem("builtins:str", "it is odd") == ""


def test_a_module_in_the_current_folder_is_not_run(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(str(tmp_path))
    for name in ("json", "syntagm", "resource"):
        with open(f"{name}.py", "w", encoding="utf-8") as file:
            file.write("open('ran', 'w')\n")
    assert problem("builtins:eval", "str(__import__('os').path.exists('ran'))") == "False"
