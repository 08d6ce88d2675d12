"""The files that this package writes: suites with their versions, and jobs."""

import re
from pathlib import Path

from syntagm.errors import RunError, SyntagmError
from syntagm.io import regular
from syntagm.io.integrity import File, Folder
from syntagm.studio import jobs, store

_VERSION = re.compile(r"\d+-[a-z]+-([0-9a-f]{16})\.\w+")


def _version_faults(folder: Path) -> dict[Path, SyntagmError]:
    found: dict[Path, SyntagmError] = {}
    for path in sorted((folder / store.HISTORY).glob("*/*")):
        match = _VERSION.fullmatch(path.name)
        if match and not store.digest_of(regular.content(path)).startswith(match[1]):
            cure = "The other versions are whole. Put it back from a copy, or delete it."
            found[path] = RunError(str(path), "damaged or edited", "the version as it was saved", cure)
    return found


def _job_faults(folder: Path) -> dict[Path, SyntagmError]:
    found: dict[Path, SyntagmError] = {}
    try:
        job = jobs.Jobs(folder.parent.parent, {}).find(folder.name)
    except SyntagmError as error:
        return {folder / jobs.JOB: error}
    try:
        jobs.refuse_changed(job)
    except RunError as error:
        found[job.file] = error
    if (folder / jobs.END).exists():
        try:
            jobs.END_RECORD.read(folder / jobs.END)
        except RunError as error:
            found[folder / jobs.END] = error
    return found


STUDIO = Folder(
    "studio",
    (f"{store.HISTORY}/*/????-*.t*",),
    (
        File("an earlier version of a suite", f"{store.HISTORY}/*/????-*.t*"),
        File("a suite", "*.tsv", checked=False),
        File("a template", "*.toml", checked=False),
    ),
    _version_faults,
)
JOB = Folder(
    "job",
    (jobs.JOB,),
    (
        File("the record of a job", jobs.JOB),
        File("the end of a job", jobs.END),
        File("how far a job is", jobs.PROGRESS, checked=False),
        File("what the process of a job printed", jobs.LOG, checked=False),
        File("the text of a job", "*.tsv"),
        File("the template of a job", "*.toml"),
    ),
    _job_faults,
)
FOLDERS = (STUDIO, JOB)
