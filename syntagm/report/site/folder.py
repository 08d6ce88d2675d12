"""The pages about runs as files of a folder, which opens from the disk and can be published as a static site.

    index.html          the overview
    suite/NN-NAME.html  a page for each suite, with a table of all its items
    suite/NN-NAME/      a page for each of up to 50 items of the suite, the most informative ones (`predictions.items`)
    run/NN-NAME.html    a page for each run
    reading.html        analyses of reading times, if there are some beside runs
    checkpoints.html    the scores along checkpoints, if there are some, with a page for each in checkpoints/NN.html
    style.css script.js
    pages.json          the names and hashes of all files; sealed

Beside a page are its tables as CSV, JSON and Parquet (those of items as CSV and JSON), and its figures as SVG and PNG,
under its name.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from syntagm.core import Form, RunError, SyntagmError, UsageError, atomic, public, regular
from syntagm.report import page, shell
from syntagm.report.links import file_name
from syntagm.report.predictions.items import LIMIT, pick
from syntagm.report.site import pages
from syntagm.report.site.addresses import (
    CHECKPOINTS,
    FIGURES,
    OVERVIEW,
    READING,
    TABLES,
    Filed,
    Place,
    default_table,
    endings_of,
    file_of,
)
from syntagm.report.site.site import Site
from syntagm.runs import Runs, runs_of
from syntagm.stats import Resampling, using

MANIFEST = "pages.json"
FORM = Form(
    "the list of the files of a report",
    1,
    {"format": int, "files": {str: str}},
    "Write the report again, into a new folder.",
)
POLICY = "; ".join([
    *("default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'", "base-uri 'none'"),
    "form-action 'none'",
])  # fmt: skip
_REMARK = "This page is one of a folder, and loads nothing from elsewhere."


@public(name="write_pages")
def write_pages(
    runs: Runs, folder: str | Path, *, resampling: Resampling | None = None, reading: Sequence[str | Path] = ()
) -> Path:
    """Write the pages about `runs` to a folder, and return the path of its `index.html`."""
    # A folder that has such pages already gets the new ones, and loses those that are no longer among them.
    folder, run_list = Path(folder), runs_of(runs) if runs or not reading else []
    analyses = page.open_reading(reading)
    before = _written_before(folder)
    atomic.make_folder(folder)
    if not (folder / MANIFEST).exists():
        # A killed command leaves a folder that the same command accepts.
        FORM.write(folder / MANIFEST, {"files": {}})
    hashes: dict[str, str] = {}
    made: set[Path] = set()
    with using(resampling):
        for name, content in contents(Site(run_list, analyses=analyses)):
            path = _inside(folder, name)
            if path.parent not in made:
                atomic.make_folder(path.parent)
                made.add(path.parent)
            hashes[name] = hashlib.sha256(content).hexdigest()
            atomic.write(path, content)
    FORM.write(folder / MANIFEST, {"files": hashes})
    for name in before.keys() - hashes.keys():
        path = _inside(folder, name)
        if not path.is_symlink() and path.is_file():
            path.unlink()
    return folder / "index.html"


def _inside(folder: Path, name: str) -> Path:
    """Return the path of a file in the folder; refuse a link in the place of a folder."""
    *parents, last = name.split("/")
    return atomic.inside(folder, *parents) / last


def _written_before(folder: Path) -> Mapping[str, str]:
    if not folder.exists() or not any(folder.iterdir()):
        return {}
    if not (folder / MANIFEST).is_file():
        cure = "Choose a new folder."
        raise UsageError(str(folder), "a folder with other files", "a new folder, or one with such a report", cure)
    files: dict[str, str] = FORM.read(folder / MANIFEST)["files"]
    if foreign := [name for name in files if not all(part.strip(".") for part in name.split("/"))]:
        raise RunError(
            str(folder / MANIFEST), repr(foreign[0]), "names of files inside of the folder", "Choose a new folder."
        )
    return files


def contents(site: Site) -> Iterator[tuple[str, bytes]]:
    files = dict(_places(site))
    yield "style.css", shell.STYLE.encode()
    yield "script.js", shell.SCRIPT.encode()
    for place, name in files.items():
        if place != OVERVIEW:
            yield from _page(site, files, place, name)
    # The overview comes last: while it is missing, the pages are not complete.
    yield from _page(site, files, OVERVIEW, files[OVERVIEW])


def _places(site: Site) -> Iterator[tuple[Place, str]]:
    """Yield the pages of the folder: place and name without ending."""
    yield OVERVIEW, "index"
    for number, name in enumerate(site.columns, 1):
        yield ("run", name), f"run/{file_name(number, name)}"
    if site.checkpoints:
        yield CHECKPOINTS, "checkpoints"
        for number in range(1, len(site.checkpoints.at) + 1):
            yield (*CHECKPOINTS, str(number)), f"checkpoints/{number:02}"
    if site.reading and site.chapter:
        yield READING, "reading"
    for key, subject in site.suites.items():
        stem = f"suite/{file_name(subject.number, subject.name)}"
        yield ("suite", key), stem
        items, shown = site.items(key), pick(subject, LIMIT)
        chosen = {shown.keys[rank] for rank in shown.ranks}
        for number, (item, occurrence, name) in enumerate(
            items.table.select("item", "occurrence", "key").iter_rows(), 1
        ):
            if (item, occurrence) in chosen:
                yield ("suite", key, name), f"{stem}/{file_name(number, name)}"


def _page(site: Site, files: Mapping[Place, str], place: Place, name: str) -> Iterator[tuple[str, bytes]]:
    addresses = Filed(files, name)
    page = site.page(place, addresses)
    frame = shell.link("../" * name.count("/"), POLICY, _REMARK)
    yield f"{name}.html", site.render(page, addresses, frame).encode()
    if not (place[:1] == CHECKPOINTS and place != CHECKPOINTS):
        yield from _beside(page, name)


def _beside(page: Any, name: str) -> Iterator[tuple[str, bytes]]:
    """Yield the tables and figures of a page."""
    for section in page.sections():
        if data := section.saved:
            table = pages.frame_of(data.rows(page))
            short = "" if data.name == default_table(page.place) else data.name
            for ending in (ending for ending in TABLES if ending in endings_of(page.place)):
                yield file_of(name, ending, short), pages.encode(table, ending)
        for drawing in section.figures(page, False):
            for ending in FIGURES:
                yield file_of(name, ending, drawing.stem), drawing.figure.content(ending)
            yield file_of(name, "csv", drawing.stem), pages.encode(drawing.figure.table, "csv")


def faults(folder: Path) -> dict[Path, SyntagmError]:
    """Return an error for each file of a report that is damaged or missing."""
    try:
        files: Mapping[str, str] = FORM.read(folder / MANIFEST)["files"]
    except SyntagmError as error:
        return {folder / MANIFEST: error}
    found: dict[Path, SyntagmError] = {}
    for name, digest in files.items():
        path = folder / name
        try:
            content = regular.content(path)
        except OSError as error:
            found[path] = _fault(path, f"can't be read ({error.strerror})")
            continue
        if hashlib.sha256(content).hexdigest() != digest:
            found[path] = _fault(path, "damaged or edited")
    return found


def _fault(path: Path, found: str) -> RunError:
    return RunError(str(path), found, "the file as it was written", "Write the report again.")
