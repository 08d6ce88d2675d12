"""Pipes, sockets, devices and endless files in the place of files: every reader refuses them at once, and names them."""

import ast
import errno
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from special_files import KINDS, no_waiting, put
from toy_runs import agreement, interrupt, toy_run

import syntagm
from syntagm.cli import main
from syntagm.core import SyntagmError, hashing, integrity, lines, record as records, regular, utf8
from syntagm.models import load
from syntagm.runs import open_run
from syntagm.runs.cache import AnswerCache

PACKAGE = Path(syntagm.__file__).parent
TEXT = "The farmer sees the dog.\nThe dog sees the farmer.\nThe sailor likes the farmer.\n"


@pytest.fixture(autouse=True)
def _no_waiting() -> Iterator[None]:
    with no_waiting():
        yield


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_regular_file_is_not_read(kind: str, tmp_path: Path) -> None:
    put(kind, path := tmp_path / "file")
    for read in (regular.content, lambda path: regular.opened(path, 2**40), lambda path: hashing.of_file(path)):
        with pytest.raises(OSError, match=kind):
            read(path)  # type: ignore[operator]
    for read_text in (utf8.read, lambda path: list(lines.read(path))):
        # The lines of a file may be more than fit into memory; the first one is refused here.
        with pytest.raises(syntagm.InputError, match=f"{kind}|a NUL character"):
            read_text(path)  # type: ignore[operator]


def test_a_file_is_read_through_a_link_and_up_to_the_limit(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"abc")
    (link := tmp_path / "link").symlink_to("file")
    assert regular.content(link) == regular.content(link, 3) == b"abc"
    assert regular.checked(link) == link
    with regular.opened(link, 3) as file:
        assert file.read() == b"abc"
    with pytest.raises(OSError, match="more than 0 MB") as raised:
        regular.content(link, 2)
    assert raised.value.errno == errno.EFBIG
    (tmp_path / "nothing").symlink_to("missing")
    for path in (tmp_path / "nothing", tmp_path / "a\0b", tmp_path / "a\ud800b"):
        with pytest.raises(FileNotFoundError):
            regular.content(path)


def test_a_file_that_has_more_than_its_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of /proc have the size 0; and another process may write to a file while it is read."""
    (path := tmp_path / "file").write_bytes(b"x" * 200_000)
    fstat = os.fstat
    monkeypatch.setattr(
        os, "fstat", lambda descriptor: os.stat_result([*fstat(descriptor)[:6], 0, *fstat(descriptor)[7:10]])
    )
    assert len(regular.content(path)) == 200_000
    with pytest.raises(OSError, match="more than 0 MB"):
        regular.content(path, 199_999)


def test_no_descriptor_is_lost(tmp_path: Path) -> None:
    before = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").is_dir() else 0
    for kind in KINDS:
        put(kind, tmp_path / "file")
        for _ in range(3):
            with pytest.raises(OSError, match=kind):
                regular.content(tmp_path / "file")
    assert (len(os.listdir("/proc/self/fd")) if before else 0) == before


def _run(folder: Path) -> None:
    toy_run(folder, agreement())


def _fill(folder: Path) -> None:
    suite, words = folder.parent / "pairs.tsv", folder.parent / "words.csv"
    suite.write_text("id\tgood\tbad\n1\tThe dog barks.\tThe dog bark.\n")
    words.write_text("lemma,form:singular,form:plural\nbark,barks,bark\n")
    assert (
        main(["fill", "toy", "--suite", str(suite), "--words", str(words), "-o", str(folder), "--no-report", "-q"]) == 0
    )


def _cache(folder: Path) -> None:
    model = load("toy")
    model.worth_caching = True  # type: ignore[misc]
    AnswerCache(folder / "answers.sqlite", pytest.fail).put(model, model.score(["The dog barks"]))


def _ngram(folder: Path) -> None:
    (corpus := folder.parent / "corpus.txt").write_text(TEXT)
    line = ["train", "ngram", "--corpus", str(corpus), "--order=2", "--discount-fallback", "-o", str(folder)]
    assert main(line) == 0


def _use_cache(folder: Path) -> None:
    warnings: list[str] = []
    cache, model = AnswerCache(folder / "answers.sqlite", warnings.append), load("toy")
    model.worth_caching = True  # type: ignore[misc]
    cache.put(model, model.score(["The dog barks"]))
    assert len(warnings) == 1
    assert "going on without the cache" in warnings[0] or "starting a new cache" in warnings[0]


def _resume(folder: Path) -> None:
    toy_run(folder, agreement())


def _open(folder: Path) -> None:
    run = open_run(folder)
    run.results()
    for name in run.record["files"]:
        if name == "words.csv":
            run.file(name)


# How a folder of each kind is made, and what reads it.
FOLDERS: Mapping[str, tuple[Callable[[Path], None], tuple[Callable[[Path], object], ...]]] = {
    "run": (_run, (_open, _resume)),
    "fill": (_fill, (_open,)),
    "cache": (_cache, (_use_cache,)),
    "model": (_ngram, (lambda folder: load(str(folder)),)),
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    top = tmp_path_factory.mktemp("made")

    def make(kind: str) -> Path:
        if not (folder := top / kind / "folder").exists():
            folder.parent.mkdir()
            FOLDERS[kind][0](folder)
        return folder

    return make


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("folder", FOLDERS)
def test_each_declared_file_of_a_folder(
    folder: str, kind: str, made: Callable[[str], Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each reader either refuses what is there and names it, or does without it; no reader waits for it."""
    declared = next(each for each in integrity.FOLDERS if each.fits(made(folder)))
    files = [path.relative_to(made(folder)) for path in made(folder).rglob("*") if path.is_file()]
    tried = 0
    for name in files:
        its_kind = declared.file(name.as_posix())
        assert its_kind, name
        for number, read in enumerate(FOLDERS[folder][1]):
            shutil.copytree(made(folder), copy := tmp_path / f"{name.name}{number}")
            put(kind, copy / name)
            try:
                read(copy)
            except SyntagmError as error:
                assert name.name in str(error), error
            tried += 1
        shutil.copytree(made(folder), copy := tmp_path / f"{name.name}-checked")
        put(kind, copy / name)
        code = main(["integrity", str(copy)])
        if its_kind.checked:
            assert code == 1, name
            assert name.name in capsys.readouterr().out
    assert tried >= len(files) > 0


def test_a_pipe_in_place_of_results_is_refused_before_the_record_changes(tmp_path: Path) -> None:
    toy_run(tmp_path, agreement())
    before = (tmp_path / "run.json").read_bytes()
    (tmp_path / "results.csv").unlink()
    os.mkfifo(tmp_path / "results.csv")
    with pytest.raises(syntagm.RunError, match=r"results.csv: a pipe, .* Delete it; the same command"):
        toy_run(tmp_path, agreement())
    assert (tmp_path / "run.json").read_bytes() == before
    (tmp_path / "results.csv").unlink()
    assert toy_run(tmp_path, agreement()).done


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("suffix", ["-wal", "-shm", "-journal"])
def test_the_files_beside_a_cache(kind: str, suffix: str, tmp_path: Path) -> None:
    _cache(tmp_path)
    put(kind, tmp_path / f"answers.sqlite{suffix}")
    if kind != "more than":
        _use_cache(tmp_path)
        assert (tmp_path / f"answers.sqlite{suffix}").lstat()


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "more than"])
def test_something_else_than_a_lock_is_left_as_it_is(kind: str, tmp_path: Path) -> None:
    toy_run(tmp_path, agreement())
    interrupt(tmp_path, 0)
    put(kind, tmp_path / "lock")
    with pytest.raises(syntagm.RunError, match=r"lock: (a link|something else than a lock); expected the lock"):
        toy_run(tmp_path, agreement())
    assert (tmp_path / "lock").lstat()


def test_a_pipe_with_the_name_of_a_temporary_file_is_passed_over(tmp_path: Path) -> None:
    put("a pipe", tmp_path / ".run.json.0123456789abcdef.syntagm")
    toy_run(tmp_path, agreement())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["suite.json", "pairs.tsv", "blimp.jsonl", "template.toml", "data.csv"])
def test_a_suite_of_a_folder_does_not_vanish(kind: str, name: str, tmp_path: Path) -> None:
    (tmp_path / "other.tsv").write_text("id\tgood\tbad\n1\tThe dog barks.\tThe dog bark.\n")
    put(kind, tmp_path / name)
    if kind == "a folder":
        assert len(syntagm.read_suites(str(tmp_path))) == 1  # it may hold suites
    elif kind != "more than":  # no format recognises its beginning
        with pytest.raises(syntagm.InputError, match=f"{name}: {kind}, not a regular file"):
            syntagm.read_suites(str(tmp_path))


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "a folder"])
@pytest.mark.parametrize(
    "name", ["generation_config.json", "chat_template.jinja", "additional_chat_templates/rag.jinja"]
)
def test_files_that_libraries_open_by_name(kind: str, name: str, tmp_path: Path) -> None:
    from syntagm.core import ModelError
    from syntagm.models import refuse_damaged

    refuse_damaged(tmp_path)
    (tmp_path / name).parent.mkdir(exist_ok=True)
    put(kind, tmp_path / name)
    with pytest.raises(ModelError, match=f"{Path(name).name}: (a device or a pipe|8,796,093,022,208 bytes)"):
        refuse_damaged(tmp_path)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "more than"])
def test_records_of_every_form(kind: str, tmp_path: Path) -> None:
    form = records.Form("a record", 1, {"format": int}, "Restore it.")
    put(kind, path := tmp_path / "record.json")
    with pytest.raises(
        syntagm.RunError, match=rf"record\.json: can't be read \({kind}, not a regular file\).*Restore it"
    ):
        form.read(path)


# Methods that read a file, and functions of libraries that open one by its name.
_READ = {"read_bytes", "read_text", "from_file"}
_BY_NAME = {"load_file", "safe_open", "ZipFile", "read_parquet", "read_csv", "read_json", "read_ndjson", "scan_parquet"}


def _opens(call: ast.Call) -> bool:
    """Return whether a call opens a file to read it, in another way than `io.regular`."""
    of_something = isinstance(call.func, ast.Attribute)
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if name == "open":
        modes = [each.value for each in call.args[not of_something :] if isinstance(each, ast.Constant)]
        return (not of_something and not modes) or any(mode in ("r", "rb", "rt") for mode in modes)
    if name in _BY_NAME:
        return not ast.unparse(call.args[0]).startswith(("regular.", "BytesIO(", "file"))
    return name in _READ or (name == "connect" and ast.unparse(call.func) == "sqlite3.connect")


@pytest.mark.slow
def test_all_readers_open_files_in_one_place() -> None:
    """`core/io/regular.py` opens them; SQLite opens its file itself, after the same check. Fronts are part of the program."""
    sources = {path: path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")}
    names = re.compile(rf"\b(open|connect|{'|'.join(_READ | _BY_NAME)})\(")
    found = {
        f"{path.relative_to(PACKAGE).as_posix()}: {ast.unparse(node)}"
        for path, source in sources.items()
        if names.search(source)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and _opens(node)
    }
    allowed = (
        "core/io/regular.py: ",
        "core/front.py: ",
        "runs/cache.py: sqlite3.connect(",
        "experiment/database.py: sqlite3.connect(",
    )
    assert {line for line in found if not line.startswith(allowed)} == set()
    assert {line.partition(" ")[0] for line in found} == {
        *("core/io/regular.py:", "core/front.py:", "runs/cache.py:", "experiment/database.py:")
    }
