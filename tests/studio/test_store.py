"""The folder of the studio: versions, conflicts, names that lead elsewhere."""

import threading
from pathlib import Path

import pytest

pytest.importorskip("starlette")

from syntagm.core import InputError, RunError, UsageError
from syntagm.studio import Store
from syntagm.studio.store import Conflict, digest_of


def test_every_saved_version_stays(tmp_path: Path) -> None:
    store, base = Store(tmp_path), ""
    for text in ("a\n", "b\n", "b\n", "a\n"):
        base = store.save("own.tsv", text, base).digest
    assert (tmp_path / "own.tsv").read_text() == "a\n"
    # Saving what is there already makes no version.
    assert [(version.number, version.kind) for version in store.versions("own.tsv")] == [
        (3, "saved"), (2, "saved"), (1, "saved"),
    ]  # fmt: skip
    assert store.version("own.tsv", 2).text == "b\n"
    with pytest.raises(UsageError, match="no version 9"):
        store.version("own.tsv", 9)
    store.versions("own.tsv")[0].path.write_text("x")
    with pytest.raises(RunError, match="damaged"):
        store.version("own.tsv", 3)


def test_who_began_with_another_version_overwrites_nothing_and_loses_nothing(tmp_path: Path) -> None:
    store = Store(tmp_path)
    first = store.save("own.tsv", "first\n", "").digest
    with pytest.raises(Conflict) as caught:
        store.save("own.tsv", "a new suite of this name\n", "")
    assert caught.value.current
    assert caught.value.current.text == "first\n"
    store.save("own.tsv", "second\n", first)
    with pytest.raises(Conflict):
        store.save("own.tsv", "third\n", first)
    # Another program changes the file; its text comes into the history when it is replaced knowingly.
    (tmp_path / "own.tsv").write_text("by hand\n")
    with pytest.raises(Conflict) as caught:
        store.save("own.tsv", "fourth\n", digest_of(b"second\n"))
    assert caught.value.current
    store.save("own.tsv", "fourth\n", caught.value.current.digest)
    texts = {store.version("own.tsv", version.number).text: version.kind for version in store.versions("own.tsv")}
    assert texts["third\n"] == "refused"
    assert texts["by hand\n"] == "found"
    assert {"first\n", "second\n", "fourth\n"} <= texts.keys()


def test_two_editors_who_save_at_the_same_time_lose_nothing(tmp_path: Path) -> None:
    store = Store(tmp_path)

    def edit(who: str) -> None:
        base = store.save("own.tsv", "begun\n", "").digest if not (tmp_path / "own.tsv").exists() else ""
        for number in range(10):
            text = f"{who} {number}\n"
            while True:
                try:
                    base = store.save("own.tsv", text, base).digest
                    break
                except Conflict as conflict:
                    assert conflict.current
                    base = conflict.current.digest

    threads = [threading.Thread(target=edit, args=(who,)) for who in ("Ada", "Ben")]
    store.save("own.tsv", "begun\n", "")
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    texts = {store.version("own.tsv", version.number).text for version in store.versions("own.tsv")}
    assert texts == {"begun\n", *(f"{who} {number}\n" for who in ("Ada", "Ben") for number in range(10))}


def test_names_lead_nowhere_else(tmp_path: Path) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    (tmp_path / "secret.tsv").write_text("secret\n")
    (folder / "linked.tsv").symlink_to(tmp_path / "secret.tsv")
    store = Store(folder)
    assert store.names() == []
    for name in (
        "../secret.tsv",
        "/etc/passwd",
        "a/b.tsv",
        ".hidden.tsv",
        "x.sh",
        "x.tsv/",
        "x\x00.tsv",
        "",
        "a" * 81 + ".tsv",
    ):
        with pytest.raises(UsageError):
            store.save(name, "x\n", "")
    for action in (lambda: store.read("linked.tsv"), lambda: store.save("linked.tsv", "x\n", "")):
        with pytest.raises(InputError, match="a link"):
            action()
    assert (tmp_path / "secret.tsv").read_text() == "secret\n"
    (folder / "history").symlink_to(tmp_path)
    with pytest.raises(RunError, match="a link"):
        store.save("own.tsv", "x\n", "")
    with pytest.raises(UsageError, match="at most"):
        store.save("own.tsv", "x" * 1_000_001, "")
