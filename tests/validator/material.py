"""Pairs as records: drawn from the templates and written in BLiMP's format, or read from its published files."""

import json
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import syntagm as sg
from syntagm.suites import Suite, materials

FOLDER = Path(materials.__file__).parent / "warstadt2020"


def records(suites: Sequence[Suite], folder: Path) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Write each suite as JSON lines and read the lines: what a user of the files has."""
    for suite in suites:
        file = folder / f"{suite.name}.jsonl"
        sg.write_suites([suite], file, format="blimp")
        yield suite.name, read(file)


def read(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def cells(template: Path) -> dict[str, int]:
    """Return the variables of a template with the number of their values."""
    vary = tomllib.loads(template.read_text(encoding="utf-8")).get("vary", {})
    return {name: len(values["values"] if isinstance(values, dict) else values) for name, values in vary.items()}
