"""Generator of the pictures of pages in the documentation, from runs that it makes itself with the bundled materials.

    python -m tools.pictures                     # docs/pictures
    python -m tools.pictures --look FOLDER       # every kind of page, in all widths, dark and printed, to be looked at

It trains an n-gram model and evaluates it and the model `demo` on the suites of `hu2020`, which takes some minutes; the
runs stay in `.pages/pictures`, and are used again. A Chromium and the package playwright are needed. The pictures have the
fonts of the machine.
"""

import argparse
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from syntagm.experiment import walk

ROOT = Path(__file__).resolve().parents[1]
PICTURES = ROOT / "docs" / "pictures"
WORK = ROOT / ".pages" / "pictures"
NAMES = ("Demo", "5-gram")
# The ways in which every kind of page is looked at: a width, the scheme of colours.
LOOKS = {"400": (400, "light"), "900": (900, "light"), "1600": (1600, "light"), "dark": (1600, "dark")}
PAGES = {
    "overview": "/",
    "suite": "/suite/mvrr",
    "item": "/suite/mvrr/2",
    "run": "/run/Demo",
    "search": "/search?words=the+boy",
    "filtered": "/suite/mvrr?verdict=differ",
    "missing": "/none",
}


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture of the documentation.

    Arguments:
        path: the page.
        part: the id of the section at its top; "" for the top of the page.
        width, height: its size in pixels.
    """

    path: str
    part: str
    width: int
    height: int


SHOWN = {
    "overview": Picture("/", "", 1280, 900),
    "suite": Picture("/suite/mvrr", "figure", 1280, 900),
    "items": Picture("/suite/mvrr?verdict=differ&order=apart", "items", 1280, 760),
    "item": Picture("/suite/mvrr/2", "", 1280, 1000),
    "phone": Picture("/suite/mvrr?verdict=differ", "items", 400, 800),
}


def main() -> None:
    """Make the pictures."""
    parser = argparse.ArgumentParser(prog="tools.pictures", description=__doc__)
    parser.add_argument("--look", metavar="FOLDER", type=Path, help="picture every kind of page into a folder")
    parser.add_argument("--runs", metavar="DIR", nargs=2, help="two runs, in place of those that it makes")
    options = parser.parse_args()
    runs = [Path(run) for run in options.runs or _make()]
    with _served(runs) as (opening, base), walk.browser() as browser:
        if options.look:
            _look(browser, opening, base, options.look)
        else:
            _picture(browser, opening, base)


def _make() -> Iterator[Path]:
    """Yield the runs, made if they aren't there."""
    for name, model in (("demo", "demo"), ("5gram", "models/5gram")):
        if model != "demo" and not (WORK / model).exists():
            _syntagm("train", "ngram", "--corpus", "excerpt", "--discount-fallback", "-o", model)
        # A finished run takes a moment.
        _syntagm("run", model, "--suite", "hu2020", "-o", name, "--no-report", "--quiet")
        yield WORK / name


def _syntagm(*words: str) -> None:
    WORK.mkdir(parents=True, exist_ok=True)
    subprocess.run([sys.executable, "-m", "syntagm", *words], cwd=WORK, check=True, stdout=subprocess.DEVNULL)


@contextmanager
def _served(runs: list[Path]) -> Iterator[tuple[str, str]]:
    """Serve the runs: the address to open, and that of pages."""
    labels = [word for name in NAMES for word in ("--name", name)]
    line = [sys.executable, "-m", "syntagm", "serve", *map(str, runs), *labels]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True, env={**os.environ}) as server:
        assert server.stdout
        opening = server.stdout.readline().strip()
        try:
            yield opening, opening.partition("?")[0].rstrip("/")
        finally:
            server.send_signal(signal.SIGINT)


def _open(browser: Any, opening: str, width: int, height: int, scheme: str = "light") -> Any:
    page = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme).new_page()
    page.set_default_timeout(120_000)
    page.goto(opening)
    return page


def _drawn(page: Any, url: str) -> None:
    """Open a page, and wait until its figures are drawn."""
    page.goto(url)
    page.locator("html:not(:has([data-figure]:not(:has(svg, .left-out))))").wait_for(state="attached")


def _picture(browser: Any, opening: str, base: str) -> None:
    PICTURES.mkdir(exist_ok=True)
    for name, picture in SHOWN.items():
        page = _open(browser, opening, picture.width, picture.height)
        _drawn(page, base + picture.path)
        if picture.part:
            page.evaluate("(id) => document.getElementById(id).scrollIntoView()", picture.part)
        page.screenshot(path=str(PICTURES / f"{name}.png"))
        print(PICTURES.relative_to(ROOT) / f"{name}.png")
        page.context.close()


def _look(browser: Any, opening: str, base: str, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for look, (width, scheme) in LOOKS.items():
        page = _open(browser, opening, width, 1000, scheme)
        for name, path in PAGES.items():
            _drawn(page, base + path)
            page.screenshot(path=str(folder / f"{name}-{look}.png"), full_page=True)
            if look == "900":
                page.pdf(path=str(folder / f"{name}.pdf"), format="A4")
        page.context.close()


if __name__ == "__main__":
    main()
