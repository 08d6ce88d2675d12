"""Generator of the page of datasets, from `syntagm/suites/materials/datasets.toml`.

python -m tools.datasets
"""

from pathlib import Path

from syntagm.suites import datasets

PAGE = Path(__file__).resolve().parents[1] / "docs" / "reference" / "datasets.md"
_HEAD = """# Datasets: published tests, and how they are read

For people who evaluate on published data: what there is, in which layout, and what has to be typed. *As is* means that
the name of the file is enough. `check` says what the columns or lines of a file are taken for. The page is written by
`python -m tools.datasets`.

*Tried* says what the reader was tried on: published **files**, the first rows of published files (a **sample**), or
files written for the tests in the published **layout**. The convention is the one of the authors; Syntagm compares sums
of bits unless you ask for another. In parentheses is its [name](conventions.md), if it isn't the sum, or *not here* if
Syntagm doesn't compute it; `syntagm run --convention published` uses it.

| dataset | language | size | licence | layout | convention | read | tried |
|---|---|---|---|---|---|---|---|
"""
_FOOT = """
How columns are named, and what is refused: [formats](formats.md). `hf:ORG/NAME` reads data sets of the [Hugging Face
Hub](formats.md#data-sets-of-the-hugging-face-hub).
"""


def page() -> str:
    """Return the page."""
    rows = [
        f"| {each.name} ({each.paper}) | {each.shown} | {each.size} | {each.licence} | {each.layout} | {_convention(each)} | "
        f"{each.read} | {each.tried} |\n"
        for each in datasets.listed()
    ]
    return _HEAD + "".join(rows) + _FOOT


def _convention(dataset: datasets.Dataset) -> str:
    named = {"bits": "", "": " (not here)"}
    return dataset.convention + named.get(dataset.scored, f" (`{dataset.scored}`)")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
