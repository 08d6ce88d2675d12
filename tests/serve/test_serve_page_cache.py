"""The cache of pages: what is found in it again, what is not, and what its faults do."""

import os
from collections.abc import Sequence
from pathlib import Path

import pytest
from toy_runs import agreement, toy_run

pytest.importorskip("starlette")

from syntagm.core import RunError, of_folder, registry
from syntagm.report import PageCache, Served, Shelf, key_of, shell
from syntagm.report.serve import page_cache
from syntagm.report.serve.page_cache import content_of
from syntagm.runs import Run, open_run


def made_by(cache: PageCache, runs: Sequence[Run], key: str = "a", lasting: bool = True) -> bool:
    """Whether a server that starts now makes a page, in place of finding it."""
    made: list[str] = []
    found = Shelf(runs, cache=cache).get((key,), lambda site: made.append(key) or b"page " + key.encode(), lasting)
    assert found == b"page " + key.encode()
    return bool(made)


def test_a_page_is_found_again_as_long_as_nothing_changes_that_it_depends_on(tmp_path: Path) -> None:
    run, cache = toy_run(tmp_path / "run", agreement()), PageCache(tmp_path / "pages")
    assert [made_by(cache, [run]) for _ in range(2)] == [True, False]
    assert made_by(cache, [run], "b")
    assert [made_by(cache, [run], "c", lasting=False) for _ in range(2)] == [True, True]
    # Other runs, another name, another content, and another installation.
    other = toy_run(tmp_path / "other", agreement())
    assert made_by(cache, [other])
    renamed = open_run(tmp_path / "run")
    renamed.name = "Another"
    assert made_by(cache, [renamed])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(page_cache, "installation", lambda: "another")
        assert made_by(cache, [run])
    with open(tmp_path / "run" / "ledger.jsonl", "a") as ledger:
        ledger.write("\n")
    assert made_by(cache, [run])
    assert not made_by(cache, [other])


@pytest.mark.parametrize("ending", ["parquet", "results.parquet"])
def test_a_table_that_was_damaged_since_is_read_again_even_if_its_time_was_put_back(
    tmp_path: Path, ending: str
) -> None:
    run, cache = toy_run(tmp_path / "run", agreement()), PageCache(tmp_path / "pages")
    assert [made_by(cache, [run]) for _ in range(2)] == [True, False]
    table = tmp_path / "run" / "shards" / f"{run.suites[0].shards[0]}.{ending}"
    before = table.stat()
    damaged = bytearray(table.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    table.write_bytes(damaged)
    os.utime(table, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert table.stat().st_size == before.st_size
    assert made_by(cache, [run])
    table.unlink()
    assert made_by(cache, [run])


def test_a_table_that_is_damaged_while_the_server_runs_has_no_page_of_an_earlier_start(tmp_path: Path) -> None:
    run, cache = toy_run(tmp_path / "run", agreement()), PageCache(tmp_path / "pages")
    assert made_by(cache, [run])
    shelf = Shelf([open_run(tmp_path / "run")], cache=cache)
    for table in (tmp_path / "run" / "shards").iterdir():
        table.write_bytes(b"damaged")
    with pytest.raises(RunError, match="damaged"):
        shelf.get(("a",), lambda site: site.html((), Served(), shell.LINKED).encode(), lasting=True)


@pytest.mark.slow
def test_another_version_or_other_code_of_a_package_that_adds_is_another_installation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def now() -> str:
        page_cache.installation.cache_clear()
        registry._points.cache_clear()
        return page_cache.installation()

    found = [now()]
    about = tmp_path / "hums-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: hums\nVersion: 1\n")
    (about / "entry_points.txt").write_text("[syntagm.measures]\nhums = hums.measure\ngone = no_such_module\n")
    (tmp_path / "hums").mkdir()
    (tmp_path / "hums" / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    try:
        found.append(now())
        (about / "METADATA").write_text("Metadata-Version: 2.1\nName: hums\nVersion: 2\n")
        found.append(now())
        (tmp_path / "hums" / "measure.py").write_text("raise SystemExit")
        found += [now(), now()]
    finally:
        monkeypatch.undo()
        assert now() == found[0]
    assert len(set(found)) == 4
    assert found[-1] == found[-2], "nothing is imported or written by looking"


def test_a_page_is_not_kept_if_a_run_changed_while_it_was_made(tmp_path: Path) -> None:
    run, cache = toy_run(tmp_path / "run", agreement()), PageCache(tmp_path / "pages")
    ledger = tmp_path / "run" / "ledger.jsonl"
    before = ledger.read_bytes()

    def make(site: object) -> bytes:
        ledger.write_bytes(before + b"\n")
        return b"a page of other runs"

    assert Shelf([run], cache=cache).get(("a",), make, lasting=True)
    ledger.write_bytes(before)
    assert made_by(cache, [run])


def test_unfinished_runs_and_those_in_memory_are_not_kept(tmp_path: Path) -> None:
    run = toy_run(tmp_path / "run", agreement())
    assert key_of([run], [])
    run.done = False
    assert key_of([run], []) == ""


def test_a_damaged_page_is_made_again(tmp_path: Path) -> None:
    run, cache = toy_run(tmp_path / "run", agreement()), PageCache(tmp_path / "pages")
    made_by(cache, [run])
    [path] = (tmp_path / "pages").glob("*.page")
    whole = path.read_bytes()
    for damaged in (whole.replace(b"page", b"pane"), whole[:-1], b""):
        path.write_bytes(damaged)
        with pytest.raises(RunError, match="damaged"):
            content_of(path)
        [inspected] = [found for found in of_folder(tmp_path / "pages") if found.kind.name == "pages"]
        assert [(finding.path, finding.state) for finding in inspected.findings] == [(path, "damaged")]
        assert made_by(cache, [run])
        assert path.read_bytes() == whole


def test_what_was_used_least_goes_and_a_folder_that_cant_be_written_costs_time_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_cache, "MOST_BYTES", 1000)
    cache = PageCache(tmp_path / "pages")
    for number in range(20):
        cache.put(f"{number:064}", b"x" * 100)
    files = list((tmp_path / "pages").glob("*.page"))
    assert sum(path.stat().st_size for path in files) <= 1000
    assert cache.get(f"{19:064}") == b"x" * 100
    (tmp_path / "file").write_text("")
    broken = PageCache(tmp_path / "file" / "pages")
    broken.put("a" * 64, b"x")
    assert broken.get("a" * 64) is None
