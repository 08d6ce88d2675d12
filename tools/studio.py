"""Generator of the pictures of docs/guide/studio.md: the studio in Chromium, with the bundled models.

python -m tools.studio
"""

import argparse
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.parse import urlencode

from syntagm.experiment import browser

DOCS = Path(__file__).resolve().parents[1] / "docs"
_NOUNS = (
    ("dog", "dogs"),
    ("cat", "cats"),
    ("neighbour", "neighbours"),
    ("pilot", "pilots"),
    ("actor", "actors"),
    ("nurse", "nurses"),
)


def table() -> str:
    """Return a suite of six items and four conditions, as a spreadsheet copies it."""
    regions = ("subject", "verb", "end")
    conditions = [f"{noun}_{verb}" for noun in ("sing", "plural") for verb in ("sing", "plural")]
    rows = [["item", *(f"{condition}:{region}" for condition in conditions for region in regions)]]
    for number, nouns in enumerate(_NOUNS, 1):
        cells = [part for noun in nouns for verb in ("sleeps", "sleep") for part in (f"The {noun}", verb, "~.")]
        rows.append([str(number), *cells])
    return "".join("\t".join(row) + "\n" for row in rows)


def main() -> None:
    """Make both pictures."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    with tempfile.TemporaryDirectory() as folder:
        line = [
            sys.executable,
            "-m",
            "syntagm",
            "serve",
            "--model",
            "demo",
            "--model",
            "toy",
            "--write",
            f"{folder}/my_suites",
        ]
        server = subprocess.Popen(line, stdout=subprocess.PIPE, text=True)
        assert server.stdout
        address = server.stdout.readline().strip()
        try:
            with browser() as opened:
                page = opened.new_page(viewport={"width": 1100, "height": 900})
                page.set_default_timeout(120_000)
                page.goto(address)
                root = address.partition("?")[0]
                fields = [("model", "demo"), ("model", "toy"), ("pinned", "The keys | to the cabinet | are | here.")]
                page.goto(f"{root}try?{urlencode([*fields, ('text', 'The keys | to the cabinet | is | here.')])}")
                page.screenshot(path=DOCS / "studio_try.png", clip={"x": 0, "y": 0, "width": 1100, "height": 900})
                page.goto(f"{root}write?new=table")
                page.fill("input[name=name]", "agreement")
                page.click("summary")
                page.fill("textarea", table())
                for choices in (
                    ("verb", "<", "sing_sing", "sing_plural"),
                    ("verb", "<", "plural_plural", "plural_sing"),
                ):
                    page.click("button[value=preview]")
                    page.wait_for_selector("select[name=region]")
                    for name, value in zip(("region", "relation", "first", "second"), choices, strict=True):
                        page.select_option(f"select[name={name}]", value)
                    page.fill("input[name=prediction]", choices[2].partition("_")[0])
                    page.click("button[value=predict]")
                    page.wait_for_load_state()
                page.wait_for_selector(".grid .compared")
                page.screenshot(path=DOCS / "studio_write.png", clip={"x": 0, "y": 0, "width": 1100, "height": 900})
        finally:
            server.send_signal(signal.SIGINT)
            server.wait()


if __name__ == "__main__":
    main()
