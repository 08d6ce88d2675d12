"""What a closed pipe means: the reader of the output needs no more, or a program that was asked has ended."""

import argparse
import io
import os
import sys

import pytest

from syntagm import cli


class _Parser(argparse.ArgumentParser):
    def parse_args(self, *_: object) -> argparse.Namespace:  # type: ignore[override]
        def asked(_: argparse.Namespace) -> int:
            raise BrokenPipeError

        return argparse.Namespace(run=asked, command="models")


def test_a_reader_that_needs_no_more_is_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    said = io.StringIO()
    reading, writing = os.pipe()
    os.close(reading)
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", said)
        patch.setattr(sys, "stdout", open(writing, "w"))  # noqa: SIM115
        assert cli.main(["models"]) == 0
        assert said.closed
        cli._drop_output()
        sys.stdout.close()


def test_a_program_that_has_ended_is_a_failure(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cli, "_parser", _Parser)
    assert cli.main([]) == 2
    assert "has ended; expected it to read and answer" in capsys.readouterr().err
