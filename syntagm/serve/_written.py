"""The files that this package writes: the cache of pages."""

from pathlib import Path

from syntagm.errors import RunError, SyntagmError
from syntagm.io.integrity import File, Folder
from syntagm.serve import page_cache

_PAGES = f"{'?' * 64}{page_cache.ENDING}"


def _faults(folder: Path) -> dict[Path, SyntagmError]:
    found: dict[Path, SyntagmError] = {}
    for path in sorted(folder.glob(_PAGES)):
        try:
            page_cache.content_of(path)
        except RunError as error:
            found[path] = error
    return found


PAGES = Folder("pages", (_PAGES,), (File("a page of the cache", _PAGES),), _faults)
FOLDERS = (PAGES,)
