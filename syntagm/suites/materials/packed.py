"""Packed suites: gzipped files, tables in Parquet and Excel, and archives.

Formats read plain text. So the content is written as such into the user's cache folder, in a folder whose name has the hash
of the packed file, and read there; messages name the packed file. Archives stand for the folder of their files. Nothing is
unpacked beyond limits, no link is followed, and no name leads out of the folder.
"""

import contextlib
import gzip
import io
import lzma
import os
import tarfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from syntagm.core import InputError, UsageError, atomic, csv, extras, hashing, is_mistake, lines, regular, shape, utf8

# Packed file -> the ending of what is written; a gzipped file loses its last ending.
TABLES = {".parquet": ".jsonl", ".xlsx": ".csv"}
ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz")
MOST_FILES, MOST_BYTES = 10_000, 512 * 2**20
_UNPACK = "Unpack it yourself, and name the folder or the files."
# Why an archive in a folder, in another archive or under a pattern is not read.
ARCHIVE = "an archive, which is read only if it is named itself"
_DAMAGED = (tarfile.TarError, zipfile.BadZipFile, zlib.error, gzip.BadGzipFile, lzma.LZMAError)


def is_archive(path: Path) -> bool:
    """Return whether the name of a file is that of an archive."""
    return path.name.lower().endswith(ARCHIVES)


def is_packed(path: Path) -> bool:
    """Return whether the name of a file is that of a packed file, but not of an archive."""
    return not is_archive(path) and path.suffix.lower() in (".gz", *TABLES)


def ending(path: Path) -> str:
    """Return the ending that a file has once it is unpacked."""
    if not is_packed(path):
        return path.suffix
    return path.with_suffix("").suffix if path.suffix.lower() == ".gz" else TABLES[path.suffix.lower()]


def plain(path: Path, sheet: str = "") -> Path:
    """Return the file with the plain text of a packed file; any other file is returned unchanged."""
    if not is_packed(path):
        if sheet:
            raise UsageError(str(path), "the option sheet=", "a workbook (.xlsx)")
        return path
    kind = path.suffix.lower()
    try:
        place = _place(path)
        if kind == ".gz":
            return _written(place / path.with_suffix("").name, _gunzipped(path))
        name = path.with_suffix(TABLES[kind]).name
        if kind == ".parquet":
            return _written(place / name, _parquet(path))
        return _written(place / (f"{sheet}/{name}" if sheet else name), _workbook(path, sheet))
    except OSError as error:
        raise utf8.unreadable(path, error) from None


def unpacked(path: Path, endings: Iterable[str], skipped: list[str] | None) -> Path:
    """Unpack the files of an archive that may have suites, and return their folder."""
    wanted, place, size, count = set(endings), _place(path), 0, 0
    names: set[str] = set()
    try:
        with regular.opened(path) as file:
            members = _zipped(file, path) if path.suffix.lower() == ".zip" else _tarred(file, path)
            for name, content in members:
                count, size = count + 1, size + len(content)
                if count > MOST_FILES or size > MOST_BYTES:
                    raise _too_large(path)
                parts = PurePosixPath(name.replace("\\", "/")).parts
                if not parts or name.startswith("/") or ".." in parts or ":" in parts[0] or not name.isprintable():
                    raise InputError(str(path), f"a file called {name[:100]!r}", "names inside of a folder", _UNPACK)
                if is_archive(Path(name)):
                    if skipped is not None:
                        skipped.append(f"{path}, {name}: {ARCHIVE}")
                elif ending(Path(name)).lower() in wanted:
                    if (inside := "/".join(parts)) in names:
                        raise InputError(str(path), f"two files called {name[:100]!r}", "different names", _UNPACK)
                    names.add(inside)
                    _written(place.joinpath(*parts), content)
    except (*_DAMAGED, EOFError, NotImplementedError) as error:
        raise InputError(str(path), f"a damaged archive ({error})", "a complete archive", _UNPACK) from None
    except OSError as error:
        raise utf8.unreadable(path, error) from None
    if not place.is_dir():
        raise InputError(str(path), f"no files in {', '.join(sorted(wanted))}", "an archive with suites", _UNPACK)
    return place


@contextlib.contextmanager
def named(path: Path, read: Path) -> Iterator[None]:
    """Name the packed file, not the one that is read in its place, in the errors of a `with` block."""
    try:
        yield
    except (InputError, UsageError) as error:
        if path == read or str(read) not in f"{error.place}{error.found}":
            raise
        place, found = (text.replace(str(read), str(path)) for text in (error.place, error.found))
        raise type(error)(place, found, error.expected, error.cure.replace(f"{read.name}?", f"{path.name}?")) from None


def _place(path: Path) -> Path:
    """Return the folder for the content of a packed file."""
    try:
        digest = hashing.of_file(path)
    except OSError as error:
        raise utf8.unreadable(path, error) from None
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return atomic.inside(cache / "syntagm", "packed", f"{path.name}-{digest[:16]}")


def _written(path: Path, content: bytes) -> Path:
    if not path.is_file() or regular.content(path) != content:
        atomic.make_folder(path.parent)
        atomic.write(path, content)
    return path


def _gunzipped(path: Path) -> bytes:
    with regular.opened(path) as file:
        limit = min(utf8.MAX_BYTES, max(lines.FOLD_FROM, file.seek(0, io.SEEK_END) * lines.MAX_FOLD))
        file.seek(0)
        try:
            content = gzip.GzipFile(fileobj=file).read(limit + 1)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            cure = "Copy or download it again."
            raise InputError(str(path), f"damaged gzip data ({error})", "a complete file", cure) from None
    if len(content) > limit:
        raise InputError(
            str(path), f"more than {limit // 2**20:,} MB when decompressed", "less", "Decompress it yourself."
        )
    return content


def _parquet(path: Path) -> bytes:
    import polars as pl

    try:
        file = regular.checked(path, utf8.MAX_BYTES)
        columns = pl.read_parquet_schema(file)
        # A row that repeats takes no room in the file.
        shape.count(pl.scan_parquet(file).select(pl.len()).collect().item(), path)
        if unread := [name for name, kind in columns.items() if "Binary" in str(kind)]:
            cure = "Convert it to CSV without them."
            raise InputError(
                str(path), f"columns of bytes: {', '.join(map(repr, unread[:5]))}", "text and numbers", cure
            )
        frame = pl.read_parquet(file)
        texts = [name for name, kind in columns.items() if kind == pl.String]
        sizes = frame.select(pl.col(texts).str.len_bytes().cast(pl.Int64).sum()).row(0) if texts else ()
        if sum(sizes) > utf8.MAX_BYTES:
            found = f"more than {utf8.MAX_BYTES // 2**20} MB of text"
            raise InputError(str(path), found, "less", "Split it into several files.")
        return frame.write_ndjson().encode()
    except (OSError, InputError):
        raise
    except BaseException as error:  # polars raises exceptions of many types, and panics
        if isinstance(error, KeyboardInterrupt | SystemExit | MemoryError) or is_mistake(error):
            raise
        raise InputError(
            str(path), str(error).splitlines()[0][:300], "a table in Parquet", "Convert it to CSV."
        ) from None


def _workbook(path: Path, sheet: str) -> bytes:
    import polars as pl

    try:
        file = regular.checked(path, utf8.MAX_BYTES)
        if zipfile.is_zipfile(file):
            with zipfile.ZipFile(file) as parts:
                if sum(part.file_size for part in parts.infolist()) > MOST_BYTES:
                    found = f"a workbook of more than {MOST_BYTES // 2**20} MB when decompressed"
                    raise InputError(str(path), found, "less", "Save the sheet as CSV (UTF-8), in several files.")
        sheets: dict[str, Any] = pl.read_excel(
            file, sheet_id=0, engine="calamine", has_header=False, infer_schema_length=0, raise_if_empty=False
        )
    except ModuleNotFoundError:
        alternative = "save the sheet as CSV (UTF-8)"
        raise extras.missing("fastexcel", str(path), InputError, alternative, "a workbook") from None
    except (OSError, InputError):
        raise
    except BaseException as error:  # polars and its reader in Rust raise exceptions of many types, and panic
        if isinstance(error, KeyboardInterrupt | SystemExit | MemoryError) or is_mistake(error):
            raise
        cure = "Save the sheet as CSV (UTF-8) in your spreadsheet program."
        raise InputError(
            str(path), f"a workbook that can't be read: {str(error).splitlines()[0][:200]}", "", cure
        ) from None
    filled = {name: frame for name, frame in sheets.items() if frame.width and frame.height}
    if (sheet and sheet not in filled) or (not sheet and len(filled) != 1):
        found = f"no sheet {sheet!r} with cells" if sheet else f"{len(filled)} sheets with cells"
        listed = ", ".join(map(repr, filled)) or "none"
        raise UsageError(str(path), found, f"one of {listed}", f"Name it: {path.name}?sheet=NAME" if filled else "")
    frame = filled[sheet] if sheet else next(iter(filled.values()))
    # Nobody sees blanks at the ends of cells, which are no content in its CSV either.
    rows = [["" if cell is None else str(cell).strip() for cell in row] for row in frame.iter_rows()]
    # The first row is the header as it stands, so that two columns of one name are seen.
    return csv.plain(rows, ",").encode()


def _zipped(file: io.BufferedReader, path: Path) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(file) as archive:
        members = [info for info in archive.infolist() if not info.is_dir()]
        if len(members) > MOST_FILES or sum(info.file_size for info in members) > MOST_BYTES:
            raise _too_large(path)
        for info in members:
            if info.flag_bits & 1:
                raise InputError(f"{path}, {info.filename[:100]}", "an encrypted file", "a plain one", _UNPACK)
            if (info.external_attr >> 16) & 0o170000 == 0o120000:  # a link
                continue
            with archive.open(info) as member:
                yield info.filename, _read(member, path)


def _tarred(file: io.BufferedReader, path: Path) -> Iterator[tuple[str, bytes]]:
    packed = file.read(2) == b"\x1f\x8b"
    file.seek(0)
    source = gzip.GzipFile(fileobj=file) if packed else file
    with tarfile.open(fileobj=_Limited(source, path), mode="r|") as archive:
        for member in archive:
            if member.isreg() and not member.issparse() and (content := archive.extractfile(member)) is not None:
                yield member.name, _read(content, path)


def _read(member: Any, path: Path) -> bytes:
    content: bytes = member.read(utf8.MAX_BYTES + 1)
    if len(content) > utf8.MAX_BYTES:
        raise _too_large(path)
    return content


class _Limited(io.RawIOBase):
    """A stream that refuses to give more bytes than an archive may have."""

    def __init__(self, source: Any, path: Path) -> None:
        self._source, self._path, self._left = source, path, MOST_BYTES + MOST_FILES * 1024

    def read(self, size: int = -1) -> bytes:
        if size < 0 or size > self._left:
            raise _too_large(self._path)
        content: bytes = self._source.read(size)
        self._left -= len(content)
        return content


def _too_large(path: Path) -> InputError:
    most = f"at most {MOST_FILES:,} files of {utf8.MAX_BYTES // 2**20} MB, {MOST_BYTES // 2**20} MB in all"
    return InputError(str(path), "an archive with more or larger files than are unpacked", most, _UNPACK)
