"""What Syntagm writes, in one list, and its inspection: which files of a folder are whole, damaged or foreign.

`FOLDERS` are recognised by marker files; `FILES` have names that users choose. `syntagm integrity`, `syntagm seal` and the
tests of damaged files read both, so a new kind is one entry here. Functions that check or seal a folder belong to the room
that writes it. They are named as `module:function` and loaded only for a folder that needs them (`pkgutil.resolve_name`).
"""

import fnmatch
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from pkgutil import resolve_name
from typing import Literal, TypeAlias

from syntagm.core.errors import SyntagmError


@dataclass(frozen=True, slots=True)
class File:
    """A kind of file."""

    name: str  # a description, e.g. "the record of a run".
    pattern: str  # the path in the folder, where `*` stands for any text without `/`, e.g. "shards/*.results.parquet".
    # Whether `Folder.check` detects damage to the file. Files that are not checked are never read again, or change no
    # number.
    checked: bool = True
    # For a single file whose name the user chooses, the name of a function from the file to the state of what it seals,
    # itself included: path -> error, None for a whole file. "": nothing tells whether it is as written.
    inspect: str = ""


@dataclass(frozen=True, slots=True)
class Folder:
    """A kind of folder."""

    name: str  # a description, e.g. "run".
    markers: tuple[str, ...]  # patterns of files. A folder with such a file is of this kind.
    files: tuple[File, ...]  # the kinds of files in the folder. The first one whose pattern fits a file applies.
    check: str  # the name of a function from a folder to an error for each damaged or missing file: path -> error
    # The name of a function that renews the seals in a folder after an intended change and returns the names of the
    # changed files, for `syntagm seal`; "" if nothing in the folder is sealed.
    renew: str = ""
    without: tuple[str, ...] = ()  # patterns of files. A folder with such a file is of another kind.

    def fits(self, folder: Path) -> bool:
        def has(patterns: tuple[str, ...]) -> bool:
            return any(next(folder.glob(pattern), None) is not None for pattern in patterns)

        return has(self.markers) and not has(self.without)

    def file(self, name: str) -> File | None:
        """Return the kind of a file by its path in the folder; None for a foreign file."""
        return next((file for file in (*self.files, *COMMON) if _fits(name, file.pattern)), None)


def _fits(name: str, pattern: str) -> bool:
    return name.count("/") == pattern.count("/") and fnmatch.fnmatchcase(name, pattern)


# The files that every folder may have.
COMMON = (
    File("the lock of a folder", "lock", checked=False),
    File("a file that a killed process left", ".*.syntagm", checked=False),
    File("a file that a killed process left", "*/.*.syntagm", checked=False),
)

_UNIT, _PAGE = "?" * 32, f"{'?' * 64}.page"
_SAVED = ("html", "csv", "json", "parquet", "svg", "png")

FOLDERS = (
    Folder(
        "human experiment",
        ("plan.json",),
        (
            File("the plan of an experiment", "plan.json"),
            File("the settings of a study", "study.toml", checked=False),
            File("a text that people read", "texts/*.md", checked=False),
            File("the answers of people", "answers.sqlite", checked=False),
            File("the log of answers.sqlite", "answers.sqlite-wal", checked=False),
            File("the index of that log", "answers.sqlite-shm", checked=False),
            File("a damaged file that was set aside", "answers.sqlite.damaged", checked=False),
            File("the receipts of people's answers", "receipts.jsonl"),
            File("the key of the ids of people", "key", checked=False),
        ),
        "syntagm.experiment.store:faults",
        "syntagm.experiment.store:renew",
    ),
    Folder(
        "experiment",
        ("experiment.json", "perplexity/*.json"),
        (
            File("the design of the experiment", "experiment.json"),
            File("the perplexity of a model", "perplexity/*.json"),
            File("the simulated responses of a likelihood-ratio test", "simulations/*.json"),
            File("a subset of the corpus", "corpora/*.txt"),
            File("a subset of a corpus of trees", "corpora/*.trees"),
            File("the results of the experiment", "results.csv", checked=False),
            File("the results of the experiment", "results.md", checked=False),
            *(
                File("a table or figure of the experiment", f"*.{ending}", checked=False)
                for ending in ("csv", "md", "tex", "png", "svg", "pdf")
            ),
        ),
        "syntagm.papers.experiment.record:faults",
        "syntagm.papers.experiment.record:renew",
    ),
    Folder(
        "report",
        ("pages.json",),
        (
            File("the list of the files of a report", "pages.json"),
            File("the style sheet of a report", "style.css"),
            File("the script of a report", "script.js"),
            *(File("the overview of a report, a table or a figure", f"index*.{ending}") for ending in _SAVED),
            *(File("the page of a suite, a table or a figure", f"suite/*.{ending}") for ending in _SAVED),
            *(
                File("the page of a run, or a table", f"run/*.{ending}")
                for ending in ("html", "csv", "json", "parquet")
            ),
            File("the page of an item", "suite/*/*.html"),
        ),
        "syntagm.report.site.folder:faults",
    ),
    Folder(
        "run",
        ("run.json", "ledger.jsonl", "shards/*.results.parquet"),
        (
            File("the record of the run", "run.json"),
            File("the ledger of finished units", "ledger.jsonl"),
            File("the results of a unit", f"shards/{_UNIT}.results.parquet"),
            File("the contexts of a unit", f"shards/{_UNIT}.contexts.parquet"),
            File("the lemmas of a unit", f"shards/{_UNIT}.lemmas.parquet"),
            File("the most probable entries of a unit", f"shards/{_UNIT}.top_words.parquet"),
            File("the answers of people of a unit", f"shards/{_UNIT}.answers.parquet"),
            File("the sums of a unit that another tool computed", f"shards/{_UNIT}.sums.parquet"),
            File("the sentences of a unit", f"shards/{_UNIT}.parquet"),
            File("a damaged file that was set aside", "shards/damaged-*", checked=False),
            File("all results as CSV", "results.csv"),
            File("all results as Parquet", "results.parquet"),
            File("the word list", "words.csv"),
            File("a report", "report.html", checked=False),
        ),
        "syntagm.runs.ledger:faults",
        "syntagm.runs.ledger:renew",
    ),
    Folder(
        "cache",
        ("answers.sqlite",),
        (
            File("answers of models", "answers.sqlite"),
            File("the log of answers.sqlite", "answers.sqlite-wal", checked=False),
            File("the index of that log", "answers.sqlite-shm", checked=False),
            File("a damaged file that was set aside", "answers.sqlite.damaged-*", checked=False),
        ),
        "syntagm.runs.cache:faults",
        # A human experiment keeps its answers in a file of the same name. They are not computed again.
        without=("plan.json",),
    ),
    Folder("pages", (_PAGE,), (File("a page of the cache", _PAGE),), "syntagm.report.serve.page_cache:faults"),
    Folder(
        "studio",
        ("history/*/????-*.t*",),
        (
            File("an earlier version of a suite", "history/*/????-*.t*"),
            File("a suite", "*.tsv", checked=False),
            File("a template", "*.toml", checked=False),
        ),
        "syntagm.studio.store:faults",
    ),
    Folder(
        "job",
        ("job.json",),
        (
            File("the record of a job", "job.json"),
            File("the end of a job", "end.json"),
            File("how far a job is", "progress.json", checked=False),
            File("what the process of a job printed", "log.txt", checked=False),
            File("the text of a job", "*.tsv"),
            File("the template of a job", "*.toml"),
        ),
        "syntagm.studio.jobs:faults",
    ),
    Folder(
        "model",
        ("training.json", "seal.json", "state/state.safetensors"),
        (
            File("the seal of the folder", "seal.json"),
            File("the record of the training run", "training.json"),
            File("weights", "*.safetensors"),
            File("a vocabulary", "*.txt"),
            File("a part of the model's description", "*.json"),
            File("the trees of a text that a parser gave", "*.trees", checked=False),
            File("the state of an unfinished training run", "state/state.safetensors"),
            File("the best weights of an unfinished training run", "state/best-*.safetensors"),
            File("the lock of an unfinished training run", "state/lock", checked=False),
            File("a file of an unfinished training run", "unfinished/*", checked=False),
        ),
        "syntagm.training.damage:faults",
        "syntagm.core.io.seal:renew",
    ),
)

# Users may edit suites, since a run records their hashes. Of the others, only records of reading times are read again.
FILES = (
    *(
        File("surprisals of tokens or words", f"*.{ending}", checked=False)
        for ending in ("csv", "tsv", "parquet", "jsonl")
    ),
    File("the discordant items of two models", "*.csv", checked=False),
    File("the exposure of items in a training text", "*.csv", checked=False),
    File("a page about suites, or a methods paragraph", "*.md", checked=False),
    File("a methods paragraph in LaTeX", "*.tex", checked=False),
    File("a bibliography", "*.bib", checked=False),
    *(File("a table", f"*.{ending}", checked=False) for ending in ("csv", "md", "tex")),
    *(File("a figure", f"*.{ending}", checked=False) for ending in ("png", "svg", "pdf", "vl.json")),
    File("an export as CSV", "*.csv", checked=False),
    File("an export for lm-evaluation-harness", "*.json", checked=False),
    File("the samples of an export for lm-evaluation-harness", "samples_*.jsonl", checked=False),
    File("an export for Every Eval Ever", "*.json", checked=False),
    File("the items of an export for Every Eval Ever", "*_samples.jsonl", checked=False),
    File("an n-gram model in the ARPA format", "*.arpa", checked=False),
    *(File("a suite", f"*.{ending}", checked=False) for ending in ("json", "jsonl", "tsv", "csv")),
    *(File("reading times with predictors", f"*.{ending}", checked=False) for ending in ("csv", "parquet")),
    File(
        "the record of an analysis of reading times", "*.reading.json", checked=False,
        inspect="syntagm.reading_times.record:inspect",
    ),
    File("a report", "*.html", checked=False),
)  # fmt: skip


# `unchecked` files were written by Syntagm, but nothing tells whether they are as written.
State: TypeAlias = Literal["whole", "damaged", "foreign", "unchecked"]


@dataclass(frozen=True, slots=True)
class Finding:
    """The state of a file."""

    path: Path  # the file
    state: State  # whether the file is intact (`whole`), damaged, foreign or unchecked
    kind: str  # the kind of the file; "" for a foreign file
    error: SyntagmError | None = None  # for a damaged file, the problem and how to fix it


@dataclass(frozen=True, slots=True)
class Inspected:
    """A folder, its kind, and the state of each of its files."""

    kind: Folder
    path: Path
    findings: tuple[Finding, ...]


def of_folder(place: Path) -> Iterator[Inspected]:
    """Inspect a folder and the folders in it that are of a declared kind, beginning with outer ones."""
    for name, folders, _ in os.walk(place):
        # Hidden folders belong to other programs.
        folders[:] = sorted(folder for folder in folders if not folder.startswith("."))
        yield from _of_kinds(Path(name))
        yield from _of_records(Path(name))


def of_file(path: Path) -> Iterator[Inspected]:
    """Inspect the folder or the record that a file belongs to, and yield only the state of the file."""
    for inspected in _of_records(path.parent):
        if own := tuple(finding for finding in inspected.findings if finding.path == path):
            yield replace(inspected, findings=own)
            return
    for folder in path.parents:
        for inspected in _of_kinds(folder):
            if own := tuple(finding for finding in inspected.findings if finding.path == path):
                yield replace(inspected, findings=own)
                return


def _of_kinds(folder: Path) -> Iterator[Inspected]:
    return (Inspected(kind, folder, tuple(_findings(kind, folder))) for kind in FOLDERS if kind.fits(folder))


def _of_records(folder: Path) -> Iterator[Inspected]:
    """Inspect the single files in a folder that seal others or themselves."""
    for kind in FILES:
        if not kind.inspect:
            continue
        found = [
            Finding(
                path, "damaged" if error else "whole", kind.name if path == record else f"sealed by {kind.name}", error
            )
            for record in sorted(folder.glob(kind.pattern))
            for path, error in resolve_name(kind.inspect)(record).items()
        ]
        if found:
            yield Inspected(Folder(kind.name, (), (kind,), ""), folder, tuple(found))


def _findings(kind: Folder, folder: Path) -> Iterator[Finding]:
    damaged: Mapping[Path, SyntagmError] = resolve_name(kind.check)(folder)
    # A damaged file may be missing.
    for path in sorted({*_files(folder), *damaged}):
        known = kind.file(path.relative_to(folder).as_posix())
        name = known.name if known else ""
        if error := damaged.get(path):
            yield Finding(path, "damaged", name, error)
        else:
            yield Finding(path, "foreign" if known is None else "whole" if known.checked else "unchecked", name)


def _files(folder: Path) -> Iterator[Path]:
    """Yield the files of a folder, excluding those in hidden folders and in folders of a declared kind."""
    for path in folder.iterdir():
        if path.is_symlink() or not path.is_dir():
            yield path
        elif not path.name.startswith(".") and not any(kind.fits(path) for kind in FOLDERS):
            yield from _files(path)
