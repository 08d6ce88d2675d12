"""Write an HTML report of one or more runs.

    syntagm report runs/demo
    syntagm report runs/demo runs/gpt2 -o both.html
    syntagm report runs/demo runs/gpt2 -o both/
    syntagm report runs/demo --figures figures --format svg,pdf
    syntagm report gains.csv effects.csv -o reading.html
    syntagm report runs/demo gains.csv -o both.html
    syntagm report gains.csv effects.csv -o reading/

The page has every number with its interval and signature, comparisons of the models, a plot
of surprisal by region and up to 50 items token by token for each suite, and the data as
CSV. For runs of `syntagm fill` it has the measures at nucleus cut-offs and by lemma, with a
few lemmas and contexts of each suite. Files that `syntagm reading fit` and `reading effects`
wrote have a chapter of gains, effects by lag, shapes and effects in ms. It is one file of at
most 10 MB that loads nothing else. No model is needed.

If -o ends in / or names a folder, the report is a folder of pages, with a page for each
suite, for up to 50 items of each, for each run, and for the files of `syntagm reading`, and
all tables and figures as files. It opens from the disk, and can be published as a static
site. `syntagm serve` shows the same pages with all items, filters and a search.

An existing file is replaced only if it is such a page, and figures only if their CSV is
next to them; --force replaces any file. A folder must be new, or have such a report already.
Exit code 1: the page is written, but a run is not finished, which the page states.
"""

import argparse
import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from syntagm.cli import _files, _options, _views
from syntagm.core import UsageError

MARKS = ('name="generator" content="syntagm', '<p class="kicker">syntagm report</p>')


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "folders", metavar="DIR|FILE", nargs="+", help="a run directory, or a file of `syntagm reading`"
    )
    _views.add_names(parser)
    parser.set_defaults(pages=False)
    parser.add_argument(
        "-o", "--output", metavar="FILE|DIR/", type=_files.named, action=_Output,
        help="the file to write (DIR/report.html if there is only one run), or a folder, with / at its end",
    )  # fmt: skip
    parser.add_argument(
        "--figures",
        metavar="FOLDER",
        type=_files.folder,
        help="also write each figure, with its numbers as CSV, to this folder",
    )
    parser.add_argument(
        "--format", metavar="LIST", help="with --figures: formats of the figures, separated by commas (png,svg,pdf)"
    )
    _options.add_intervals(parser)
    _files.add_force(parser)


class _Output(argparse.Action):
    """The option -o. `pages` says whether it names a folder."""

    def __call__(self, parser: object, options: argparse.Namespace, value: Any, name: str | None = None) -> None:
        options.pages = value.endswith("/") or Path(value).is_dir()
        options.output = (_files.folder if options.pages else _files.file)(value)


def run(options: argparse.Namespace) -> int:
    if options.format is not None and not options.figures:
        raise UsageError("--format", "given without --figures", "both", "It is the format of the figures in FOLDER.")
    folders, reading = _views.divide(options.folders)
    if not options.output and (len(folders) > 1 or reading):
        found = f"{len(folders)} runs and no -o" if not reading else "files of `syntagm reading` and no -o"
        raise UsageError("report", found, "-o FILE", "Name the file to write.")
    output = options.output or Path(options.folders[0]) / "report.html"
    if options.pages:
        return _write_pages(options, folders, reading)
    if output.parent.is_dir():  # without the folder there is no run in it, which is said below
        _files.file(str(output))
    _files.spare(output, MARKS, options.force)
    from syntagm.report import report, save
    from syntagm.stats import bootstrap
    from syntagm.views import Figure, endings

    formats = (options.format or "png,svg,pdf").split(",")
    if options.figures:
        endings(Figure.FORMATS, formats)  # an unknown format is refused before a page is written
    runs = _views.open_runs(folders, options.labels)
    with bootstrap.using(_options.given_resampling(options)):
        print(report(runs, output, reading=reading))
        if options.figures:
            spare = functools.partial(_spare, endings=formats, force=options.force)
            for path in save(runs, options.figures, formats, spare, reading):
                print(path)
    return 0 if all(run.done for run in runs) else 1


def _write_pages(options: argparse.Namespace, folders: Sequence[str], reading: Sequence[str]) -> int:
    from syntagm.report import write_pages
    from syntagm.stats import bootstrap

    if options.figures:
        cure = "The folder has the figures beside their pages."
        raise UsageError("--figures", "beside -o with a folder", "-o with a file", cure)
    runs = _views.open_runs(folders, options.labels)
    with bootstrap.using(_options.given_resampling(options)):
        print(write_pages(runs, options.output, reading=reading))
    return 0 if all(run.done for run in runs) else 1


def _spare(stem: Path, columns: Sequence[str], endings: Sequence[str], force: bool) -> None:
    _files.spare_set(stem, columns, endings, force)
