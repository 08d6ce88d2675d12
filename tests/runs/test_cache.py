"""The cache costs time at worst, never a number."""

import os
import random
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from syntagm.models import Toy, load
from syntagm.runs.cache import AnswerCache, _key, fault

TEXTS = [f"The dog number {k} barks" for k in range(40)]


def cached_toy(name: str = "toy") -> Toy:
    model = load(name)
    assert isinstance(model, Toy)
    model.worth_caching = True  # type: ignore[misc]
    return model


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    path = tmp_path / "answers.sqlite"
    model = cached_toy()
    AnswerCache(path, pytest.fail).put(model, model.score(TEXTS))
    return path


def test_what_is_put_is_got(filled: Path) -> None:
    model = cached_toy()
    found = AnswerCache(filled, pytest.fail).get(model, [*TEXTS, "another text"])
    assert list(found) == sorted(found, key=list(found).index)
    assert set(found) == set(TEXTS)
    for text, answer in zip(TEXTS, model.score(TEXTS), strict=True):
        for part in ("starts", "bits", "in_vocabulary"):
            np.testing.assert_array_equal(getattr(found[text], part), getattr(answer, part))
            assert getattr(found[text], part).dtype == getattr(answer, part).dtype


def test_half_a_character_is_left_to_the_model(filled: Path) -> None:
    assert AnswerCache(filled, pytest.fail).get(cached_toy(), ["The \ud800 dog"]) == {}


def test_another_model_gets_nothing(filled: Path, tmp_path: Path) -> None:
    """One difference of policy or of content makes another fingerprint."""
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("the dog barks\n")
    for other in (cached_toy("toy?eos=yes"), cached_toy(f"toy:{corpus}")):
        assert AnswerCache(filled, pytest.fail).get(other, TEXTS) == {}


def flip_and_read(path: Path, rounds: int, entries: int, seed: int) -> int:
    """Flip a random bit of some of the stored entries, in the value or the key; read all; compare with the truth.

    Returns:
        How many answers were missed in all rounds.
    """
    draw, model, missed = random.Random(seed), cached_toy(), 0
    truth = {answer.text: answer for answer in model.score(TEXTS)}
    own = {_key(model, text) for text in TEXTS}
    for _ in range(rounds):
        with sqlite3.connect(path) as connection:
            rows = [row for row in connection.execute("SELECT key, value FROM entries") if row[0] in own]
            for key, value in draw.sample(rows, entries):
                column, old = draw.choice([("value", value), ("value", value), ("key", key)])
                new = bytearray(old)
                new[draw.randrange(len(new))] ^= 1 << draw.randrange(8)
                connection.execute(f"UPDATE OR REPLACE entries SET {column} = ? WHERE key = ?", (bytes(new), key))
        connection.close()
        found = AnswerCache(path, lambda _: None).get(model, TEXTS)
        for text, answer in found.items():
            np.testing.assert_array_equal(answer.bits, truth[text].bits)
            np.testing.assert_array_equal(answer.starts, truth[text].starts)
        missed += len(TEXTS) - len(found)
        AnswerCache(path, lambda _: None).put(model, truth.values())
    return missed


@pytest.mark.slow
def test_a_flipped_bit_is_a_miss(filled: Path) -> None:
    assert flip_and_read(filled, 60, 1, seed=3) == 60


@pytest.mark.slow
def test_thousands_of_flipped_bits(filled: Path) -> None:
    assert flip_and_read(filled, 100, 20, seed=4) == 2000


def flip_the_file(path: Path, flips: int, seed: int) -> tuple[int, int]:
    """Flip a random bit of the file, and read all: how often something was said, and how often a key came back altered."""
    draw, model, content, said, keys = random.Random(seed), cached_toy(), path.read_bytes(), 0, 0
    truth = {answer.text: answer for answer in model.score(TEXTS)}
    for number in range(flips):
        warnings: list[str] = []
        flipped, place = bytearray(content), draw.randrange(len(content))
        flipped[place] ^= 1 << draw.randrange(8)
        (copy := path.with_name(f"{number}.sqlite")).write_bytes(flipped)
        cache = AnswerCache(copy, warnings.append)
        for text, answer in cache.get(model, TEXTS).items():
            np.testing.assert_array_equal(answer.bits, truth[text].bits)
            np.testing.assert_array_equal(answer.starts, truth[text].starts)
        cache.put(model, truth.values())
        said += bool(warnings)
        keys += any("a damaged key" in line for line in warnings)
    return said, keys


@pytest.mark.slow
def test_flipped_bits_of_the_file_are_never_a_wrong_answer(filled: Path) -> None:
    said, _ = flip_the_file(filled, 30, seed=5)
    assert said > 2


@pytest.mark.slow
def test_thousands_of_flipped_bits_of_the_file(filled: Path) -> None:
    said, keys = flip_the_file(filled, 1200, seed=6)
    assert said > 120
    assert keys


def test_a_key_that_comes_back_altered_is_a_miss_and_the_file_is_moved_aside(
    filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, warnings = cached_toy(), list[str]()
    cache = AnswerCache(filled, warnings.append)

    class Altered(sqlite3.Connection):
        def execute(self, query: str, *parameters: Any) -> Any:
            rows = super().execute(query, *parameters)
            return ((key[:-1] + b"?", value) for key, value in rows) if query.startswith("SELECT") else rows

    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *args, **options: connect(*args, **options, factory=Altered))
    assert cache.get(model, TEXTS) == {}
    monkeypatch.undo()
    assert (cache.damaged, cache.usable) == (1, True)
    assert "a damaged key; moved to answers.sqlite.damaged-" in warnings[0]
    cache.put(model, model.score(TEXTS))
    assert set(cache.get(model, TEXTS)) == set(TEXTS)


def test_an_answer_of_another_model_under_a_key_is_a_miss(filled: Path) -> None:
    """The checksum covers the key, and the key is that of text and model."""
    model, other = cached_toy(), cached_toy("toy?eos=yes")
    AnswerCache(filled, pytest.fail).put(other, other.score(TEXTS[:1]))
    with sqlite3.connect(filled) as connection:
        [(value,)] = connection.execute("SELECT value FROM entries WHERE key = ?", (_key(other, TEXTS[0]),))
        connection.execute("UPDATE entries SET value = ? WHERE key = ?", (value, _key(model, TEXTS[0])))
    connection.close()
    assert fault(filled)
    warnings: list[str] = []
    cache = AnswerCache(filled, warnings.append)
    assert TEXTS[0] not in cache.get(model, TEXTS)
    assert cache.damaged == 1
    assert not fault(filled)


def damage(change: Callable[[bytearray], bytes]) -> Callable[[Path], None]:
    def apply(path: Path) -> None:
        path.write_bytes(change(bytearray(path.read_bytes())))

    return apply


@pytest.mark.parametrize(
    "ruin",
    [
        damage(lambda content: b"this is no database, though it is long enough to be one" * 99),
        damage(lambda content: bytes(content[: len(content) // 2])),
        damage(lambda content: b"\0" * 16 + bytes(content[16:])),
    ],
    ids=["foreign", "truncated", "no header"],
)
def test_a_ruined_file_is_said_and_replaced(filled: Path, ruin: Callable[[Path], None]) -> None:
    ruin(filled)
    said: list[str] = []
    model = cached_toy()
    cache = AnswerCache(filled, said.append)
    found = cache.get(model, TEXTS)
    truth = {answer.text: answer for answer in model.score(TEXTS)}
    assert all((found[text].bits == truth[text].bits).all() for text in found)
    assert said
    AnswerCache(filled, said.append).put(model, truth.values())
    assert set(AnswerCache(filled, said.append).get(model, TEXTS)) == set(TEXTS)


def test_a_cache_that_cannot_be_made_is_done_without(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    said: list[str] = []
    cache = AnswerCache(tmp_path / "file" / "answers.sqlite", said.append)
    assert len(said) == 1
    assert "without the cache" in said[0]
    model = cached_toy()
    cache.put(model, model.score(TEXTS))
    assert cache.get(model, TEXTS) == {}


@pytest.mark.slow
def test_several_processes_may_begin_one_cache_at_once(tmp_path: Path) -> None:
    script = (
        "import sys, time; from pathlib import Path; from syntagm.runs.cache import AnswerCache\n"
        "folder = Path(sys.argv[1]); (folder / sys.argv[2]).touch()\n"
        "until = time.monotonic() + 30\n"
        "while len(list(folder.iterdir())) < 3 and time.monotonic() < until: time.sleep(0.001)\n"
        "for k in range(100): AnswerCache(folder.with_name(f'{k}.sqlite'), lambda message: sys.exit(message))\n"
    )
    ready = tmp_path / "ready"
    ready.mkdir()
    workers = [
        subprocess.Popen([sys.executable, "-c", script, str(ready), str(number)], stderr=subprocess.PIPE)
        for number in range(3)
    ]
    said = [worker.communicate()[1] for worker in workers]
    assert [worker.returncode for worker in workers] == [0, 0, 0], said


@pytest.mark.slow
def test_several_processes_on_one_cache(tmp_path: Path) -> None:
    path = tmp_path / "answers.sqlite"
    script = (
        "import sys; from pathlib import Path; from syntagm.runs.cache import AnswerCache\n"
        "from syntagm.models.names import load\n"
        "model = load('toy'); type(model).worth_caching = True\n"
        "cache = AnswerCache(Path(sys.argv[1]), lambda message: sys.exit(message))\n"
        "for k in range(50): cache.put(model, model.score([f'{sys.argv[2]} {k} {j}' for j in range(20)]))\n"
    )
    workers = [
        subprocess.Popen([sys.executable, "-c", script, str(path), str(number)], stderr=subprocess.PIPE)
        for number in range(4)
    ]
    for worker in workers:
        _, said = worker.communicate()
        assert worker.returncode == 0, said
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT count(*) FROM entries").fetchone() == (4 * 50 * 20,)
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()


def _flipped(path: Path, content: bytes, bit: int) -> None:
    flipped = bytearray(content)
    flipped[bit // 8] ^= 1 << bit % 8
    path.write_bytes(flipped)


def _heals(path: Path) -> list[str]:
    """Use a cache, and then use it again as later commands do; return what the first one warned of.

    The second needs nobody to delete a file by hand, and warns of nothing; the third gets all answers.
    """
    model, warnings = cached_toy(), list[str]()
    truth = {answer.text: answer for answer in model.score(TEXTS)}
    for warn in (warnings.append, pytest.fail, pytest.fail):
        cache = AnswerCache(path, warn)
        found = cache.get(model, TEXTS)
        for text, answer in found.items():
            np.testing.assert_array_equal(answer.bits, truth[text].bits)
        assert cache.usable
        cache.put(model, truth.values())
    assert set(found) == set(TEXTS)
    return warnings


@pytest.fixture
def _unsynced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Don't wait for the disk, which takes most of the time."""
    connect = sqlite3.connect

    def unsynced(*args: Any, **options: Any) -> sqlite3.Connection:
        connection = connect(*args, **options)
        connection.execute("PRAGMA synchronous = OFF")
        return connection

    monkeypatch.setattr(sqlite3, "connect", unsynced)


def _bits_of_the_schema(content: bytes) -> list[int]:
    """The bits of the header of the file and of its first page, and of the schema, which lies at the end of that page."""
    schema = content.index(b"table")
    assert schema < content.index(b"CREATE TABLE") < 4096
    return [bit for start, end in ((0, 112), (schema - 12, 4096)) for bit in range(8 * start, 8 * end)]


def test_a_letter_of_the_schema(filled: Path) -> None:
    """`T` of `CREATE TABLE` with its highest bit is no UTF-8: not an error of SQLite, but a UnicodeDecodeError."""
    content = filled.read_bytes()
    _flipped(filled, content, 8 * (content.index(b"CREATE TABLE") + 7) + 7)
    [warning] = _heals(filled)
    assert "moved to answers.sqlite.damaged-" in warning
    [aside] = filled.parent.glob("*.damaged-*")
    assert len(aside.read_bytes()) == len(content)
    assert fault(aside) is not None
    assert fault(filled) is None


@pytest.mark.slow
@pytest.mark.usefixtures("_unsynced")
def test_flipped_bits_of_the_schema(filled: Path, tmp_path: Path) -> None:
    content = filled.read_bytes()
    bits = _bits_of_the_schema(content)
    warned = 0
    for bit in bits[:: len(bits) // 40]:
        (folder := tmp_path / str(bit)).mkdir()
        _flipped(folder / "answers.sqlite", content, bit)
        warned += bool(_heals(folder / "answers.sqlite"))
    assert warned > 10


@pytest.mark.slow
@pytest.mark.usefixtures("_unsynced")
def test_each_bit_of_the_schema(filled: Path, tmp_path: Path) -> None:
    content = filled.read_bytes()
    warned = 0
    for bit in _bits_of_the_schema(content):
        (folder := tmp_path / str(bit)).mkdir()
        _flipped(folder / "answers.sqlite", content, bit)
        warned += bool(_heals(folder / "answers.sqlite"))
    assert warned > 800


@pytest.mark.slow
@pytest.mark.usefixtures("_unsynced")
def test_a_damaged_log(filled: Path, tmp_path: Path) -> None:
    """A killed process leaves its log beside the file. SQLite does without what is damaged in it."""
    model, draw = cached_toy(), random.Random(7)
    with sqlite3.connect(filled) as reader:
        reader.execute("SELECT count(*) FROM entries").fetchall()
        AnswerCache(filled, pytest.fail).put(model, model.score([f"{text}." for text in TEXTS]))
        contents = {suffix: Path(f"{filled}{suffix}").read_bytes() for suffix in ("", "-wal", "-shm")}
    reader.close()
    assert len(contents["-wal"]) > 4096
    for number in range(20):
        (folder := tmp_path / str(number)).mkdir()
        for suffix, content in contents.items():
            (folder / f"answers.sqlite{suffix}").write_bytes(content)
        suffix = ("-wal", "-shm")[number % 2]
        content = contents[suffix]
        _flipped(folder / f"answers.sqlite{suffix}", content, draw.randrange(8 * min(len(content), 200)))
        _heals(folder / "answers.sqlite")


@pytest.mark.parametrize(
    "error", [OverflowError("too long"), MemoryError(), sqlite3.InterfaceError("bad"), ValueError("?")]
)
def test_whatever_the_module_raises(error: Exception, filled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model, warnings = cached_toy(), list[str]()
    cache = AnswerCache(filled, warnings.append)

    class Broken(sqlite3.Connection):
        def execute(self, query: str, *parameters: Any) -> Any:
            raise error

    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *args, **options: connect(*args, **options, factory=Broken))
    assert cache.get(model, TEXTS) == {}
    assert fault(filled) is not None
    monkeypatch.undo()
    assert "moved to answers.sqlite.damaged-" in warnings[0]


def test_a_file_that_another_process_has_set_aside_is_not_set_aside_again(filled: Path) -> None:
    """Several workers meet the same damage: the first begins a new file, which the others use."""
    model, warnings = cached_toy(), list[str]()
    cache, new = AnswerCache(filled, warnings.append), filled.with_name("new")
    AnswerCache(new, pytest.fail).put(model, model.score(TEXTS))

    def meets_damage() -> None:
        new.replace(filled)
        raise sqlite3.DatabaseError("malformed")

    cache._attempt(meets_damage, None)
    assert warnings == []
    assert set(cache.get(model, TEXTS)) == set(TEXTS)
    assert not list(filled.parent.glob("*.damaged-*"))


@pytest.mark.parametrize("suffix", ["", "-wal", "-shm", "-journal"])
@pytest.mark.parametrize("target", ["full", "empty", "missing"])
@pytest.mark.parametrize("hard", [False, True])
def test_no_link_is_followed(suffix: str, target: str, hard: bool, filled: Path) -> None:
    outside, link = filled.with_name(target), Path(f"{filled}{suffix}")
    if target != "missing":
        outside.write_bytes(b"precious" if target == "full" else b"")
    link.unlink(missing_ok=True)
    if hard and not outside.exists():
        return
    os.link(outside, link) if hard else link.symlink_to(outside)
    model, warnings = cached_toy(), list[str]()
    cache = AnswerCache(filled, warnings.append)
    assert cache.get(model, TEXTS) == {}
    cache.put(model, model.score(TEXTS))
    [warning] = warnings
    assert f"answers.sqlite{suffix} is a link, or not a regular file. Delete it" in warning
    assert not cache.usable
    assert os.path.lexists(link)
    assert (outside.read_bytes() if outside.exists() else None) == {"full": b"precious", "empty": b""}.get(target)


def test_the_database_of_another_program_is_left_as_it_is(tmp_path: Path) -> None:
    path, warnings = tmp_path / "history.sqlite", list[str]()
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE visits (page)")
    connection.close()
    before = path.read_bytes()
    assert not AnswerCache(path, warnings.append).usable
    assert "a database of another program (with the table visits). Name another file" in warnings[0]
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["history.sqlite"]
