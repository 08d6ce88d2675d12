"""The pages about the bundled collections. `make docs` writes them anew; they are not kept in the repository.

    python -m tools.collection_pages [-o FOLDER]

A page is written only if it has changed, so that Sphinx reads it again only then.
"""

import argparse
from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

from syntagm.cli import main as syntagm
from syntagm.suites import collections
from tools import reading

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "reference" / "collections"
# Collections that are drawn from a lexicon for comparisons of whole sentences: what the words alone would score matters.
_WITH_BASELINES = ("frontier", "german", "warstadt2020")
NAMES = (*(f"{collection}.md" for collection in collections()), reading.PAGE)


def pages() -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each page."""
    for collection in collections():
        yield f"{collection}.md", described(collection)
    yield reading.PAGE, reading.page(reading.rows())


def described(collection: str) -> str:
    """Return what `syntagm describe` prints about a collection."""
    with redirect_stdout(StringIO()) as printed:
        code = syntagm(["describe", collection, *(["--baselines"] if collection in _WITH_BASELINES else [])])
    if code:
        raise RuntimeError(f"syntagm describe {collection} ended with {code}")
    return printed.getvalue()


def write(folder: Path) -> None:
    """Write the pages that have changed."""
    for name, text in pages():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        prog="python -m tools.collection_pages",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("-o", dest="folder", type=Path, default=FOLDER)
    write(parser.parse_args().folder)
