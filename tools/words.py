"""A count of the words that are written by hand, page by page: the documentation is to stay short.

    python -m tools.words            # the sum, and the longest pages
    python -m tools.words --all      # all pages

Left out are pages and parts of pages that a program writes (`tools.blocks`), the results of benchmarks, and the data of
tests. A word is what stands between blanks, so commands and cells of tables count, too.
"""

import argparse
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tools import blocks

ROOT = Path(__file__).resolve().parents[1]
# What the head of a page says if a program writes all of it.
_WRITTEN = re.compile(r"[Ww]ritten by `python -m tools\.\w+`")
_HEAD = 1000
# Records of what was measured, and data.
_RECORDS = re.compile(r"^benchmarks/(?!README)|^tests/data/")


def main() -> None:
    """Print the counts."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.words", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--all", action="store_true", help="list all pages, not only the longest twenty")
    counts = {name: (0 if _RECORDS.match(name) else count(text), len(text.split())) for name, text in pages()}
    longest = sorted(counts, key=lambda name: -counts[name][0])
    for name in longest if parser.parse_args().all else longest[:20]:
        print(f"{counts[name][0]:8,}  {name}")
    by_hand, words = map(sum, zip(*counts.values(), strict=True))
    print(f"{by_hand:8,}  by hand, of {words:,} words on {len(counts)} pages")


def pages() -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each page of the repository."""
    found = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in found.stdout.split():
        if (ROOT / name).is_file():
            yield name, (ROOT / name).read_text(encoding="utf-8")


def count(text: str) -> int:
    """Return the number of words of a page that are written by hand.

    >>> count("# A page\\n\\nTwo words\\n\\n<!-- x: written by python -m tools.y -->\\n\\nmany more\\n\\n<!-- end of x -->\\n")
    5
    >>> count("# A page\\n\\nWritten by `python -m tools.y`.\\n\\nmany more\\n")
    0
    """
    if _WRITTEN.search(text[:_HEAD]):
        return 0
    for block in reversed(blocks.find(text)):
        text = text[: block.start] + text[block.end :]
    return len(text.split())


if __name__ == "__main__":
    main()
