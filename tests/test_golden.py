"""The record of numbers: what is the same, what differs, and what was renamed on purpose."""

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import polars as pl
import pytest
from golden import align, compare, inputs, normal
from golden.record import Command, Views
from golden.steps import STEPS


def record(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        path = folder / "kept" / "tables" / name.replace("__", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (folder / "record.json").write_text(json.dumps({"surroundings": {}}))
    return folder


@pytest.fixture
def renamed(tmp_path: Path) -> Path:
    path = tmp_path / "renames.csv"
    path.write_text(
        "where,old,new,reason\nview,flips,discordant,\nview,cut_offs,nucleus,\ntables/*.csv,accuracy,share,\n"
        "*/run.json,.kind,,\n*/run.json,,.task,\nfile,table3,table_3,\nfile,*/gone*,,\n"
    )
    return path


def test_one_digit_is_a_difference(tmp_path: Path, renamed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = record(tmp_path / "old", scores__csv="suite,n\nmvrr,28\n", page__md="28 items\n")
    new = record(tmp_path / "new", scores__csv="suite,n\nmvrr,29\n", page__md="29 items\n")
    assert compare.compare(old, old, path=renamed) == 0
    assert compare.compare(old, new, path=renamed) == 2
    assert compare.compare(old, new, ["numbers"], renamed) == 1
    shown = capsys.readouterr().out
    assert "- mvrr,28\n  + mvrr,29" in shown
    assert "different: 1 of numbers\n" in shown


def test_what_was_renamed_is_the_same(tmp_path: Path, renamed: Path) -> None:
    old = record(
        tmp_path / "old",
        scores__csv="suite,accuracy\n",
        run__json='.kind\t"fill"\n.n\t1\n',
        table3__csv="a\n",
        gone_for_good__csv="b\n",
        it__said="syntagm table flips of 3 flips: cut_offs.csv\n",
    )
    new = record(
        tmp_path / "new",
        scores__csv="suite,share\n",
        run__json='.task\t"gaps"\n.n\t1\n',
        table_3__csv="a\n",
        it__said="syntagm table discordant of 3 flips: nucleus.csv\n",
    )
    assert compare.compare(old, new, path=renamed) == 0
    empty = tmp_path / "nothing.csv"
    empty.write_text("where,old,new,reason\n")
    # The header, the key, the name of a view, and three files of which each is on one side only.
    assert compare.compare(old, new, path=empty) == 6


def test_a_section_that_was_added_is_counted_alone(
    tmp_path: Path, renamed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A page of 5,110 lines gets a section of 73, and one of its other lines changes; the same with its numbers alone."""
    page = [f"score of suite {k % 37}: {k % 10}" for k in range(5110)]
    now = [*page[:20], *(f"remark {k % 5}" for k in range(73)), *page[20:]]
    now[4000] = "another score: 3"
    numbers = [str(k % 10) for k in range(5110)]
    others = [*numbers[:20], *(str(7 * k % 10) for k in range(73)), *numbers[20:]]
    old = record(tmp_path / "old", page__md="\n".join(page), page__numbers="\n".join(numbers))
    new = record(tmp_path / "new", page__md="\n".join(now), page__numbers="\n".join(others))
    assert compare.compare(old, new, path=renamed) == 2
    shown = capsys.readouterr().out
    assert "page.md: 74 of 5,183 lines (1 changed, 73 added)\n  line 21\n  + remark 0\n  line 3928\n  - score" in shown
    assert "page.numbers: 73 of 5,183 lines (73 added)\n" in shown


def test_an_end_of_line_is_a_difference(tmp_path: Path, renamed: Path) -> None:
    old, new = (record(tmp_path / name, a__csv=text) for name, text in (("old", "n\n1\n"), ("new", "n\r\n1\r\n")))
    assert compare.compare(old, new, path=renamed) == 1


@pytest.mark.parametrize(
    ("old", "new", "counts"),
    [
        ("a b c d", "a b c d", (0, 0, 0)),
        ("", "a b", (0, 2, 0)),
        ("a b c d", "d", (0, 0, 3)),
        # Lines of which each text has several.
        ("0 1 0 1 0 0 1", "0 1 0 1 0 1 0 0 1", (0, 2, 0)),
        ("a b c d", "a x y d", (2, 0, 0)),
        # Two lines for one: one of them is changed, the other one new.
        ("a b c", "a x y c", (1, 1, 0)),
        # In other places: as many lines go as come.
        ("a b c d e f", "d e f a b c", (0, 3, 3)),
        # Where nearly all lines differ, two that agree by chance move no others.
        ("1 2 3 4 5 6", "7 8 9 7 1 9", (6, 0, 0)),
    ],
)
def test_lines_that_differ(old: str, new: str, counts: tuple[int, int, int]) -> None:
    a, b = old.split(), new.split()
    found = align.blocks(a, b)
    changed = sum(align.changed(a, b, block) for block in found)
    assert (changed, sum(block.added for block in found), sum(block.removed for block in found)) == counts


def test_blocks_lead_from_one_text_to_the_other() -> None:
    """Lines are taken out and put in at places of which the texts know nothing, in a long file of few different lines."""
    old = [str(k * k % 11) for k in range(20_000)]
    new = [line for k, line in enumerate(old) if k % 1000 != 3]
    for k in range(500, 19_000, 700):
        new[k:k] = ["3", "7"]
    rebuilt, at = [], 0
    for block in align.blocks(old, new):
        rebuilt += old[at : block.first] + new[block.new_first : block.new_last]
        at = block.last
    assert rebuilt + old[at:] == new
    # Twenty lines went; 27 times two came.
    found = align.blocks(old, new)
    assert sum(block.last - block.first for block in found) <= 20 + 6
    assert sum(block.new_last - block.new_first for block in found) <= 54 + 6


def test_what_is_kept_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(
        '{"started": "2026-01-02T03:04:05+00:00", "versions": {}, "n": [1, {"a": null}]}'
    )
    (tmp_path / "page.html").write_text(
        "<style>p {}</style><p>Score <b>0.5</b> &amp; more, Syntagm 1.2.3</p>"
        '<a download="a.csv" href="data:text/csv,n%0A1">CSV</a>'
        '<script type="application/json" id="items-1">{"bits": 2.5}</script><script>let n = 7</script>'
    )
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    (tmp_path / "lock").touch()
    found = normal.kept(sorted(tmp_path.iterdir()), tmp_path, {})
    assert found["run.json"] == ".n[0]\t1\n.n[1].a\tnull\n"
    assert found["page.html.txt"] == "Score\n0.5\n& more, Syntagm VERSION\nCSV\n"
    assert found["page.html.txt.numbers"] == "0.5\n"
    assert found["page.html.data"] == "# items-1\n.bits\t2.5\n# a.csv\nn\n1\n"
    assert len(found["model.safetensors.sha256"]) == 65
    assert "lock" not in found


def test_parquet_is_kept_as_values_and_types(tmp_path: Path) -> None:
    table = pl.DataFrame({"n": [1, 2], "bits": [0.1, None], "at": [[1, 2], []]})
    table.write_parquet(tmp_path / "a.parquet")
    table.with_columns(pl.col("n").cast(pl.Float64)).write_parquet(tmp_path / "b.parquet", compression="gzip")
    found = normal.kept([tmp_path / "a.parquet", tmp_path / "b.parquet"], tmp_path, {})
    assert found["a.parquet.csv"] == 'n,bits,at\n1,0.1,"[1, 2]"\n2,,[]\n'
    assert found["a.parquet.schema"] == "n\tInt64\nbits\tFloat64\nat\tList(Int64)\n"
    assert found["b.parquet.schema"].startswith("n\tFloat64\n")


def test_a_folder_of_pages_and_a_study(tmp_path: Path) -> None:
    """Hashes of pages, which have times in them, and the random key of a study differ from one record to the next."""
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "pages.json").write_text('{"format": 1, "files": {"index.html": "5f", "index.csv": "a0"}}')
    (tmp_path / "study").mkdir()
    (tmp_path / "study" / "key").write_bytes(b"random")
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert normal.kept(files, tmp_path, {}) == {"pages/pages.json": "index.html\nindex.csv\n"}


_SERVER = """
import signal
from http.server import BaseHTTPRequestHandler, HTTPServer
# Background processes of a shell ignore it.
signal.signal(signal.SIGINT, signal.default_int_handler)
class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        let_in = "token=t" in self.path or "seen=1" in self.headers.get("Cookie", "")
        self.send_response(404 if self.path == "/none" else 200 if let_in else 403)
        self.send_header("Set-Cookie", "seen=1")
        self.end_headers()
        self.wfile.write(self.path.encode())
    def log_message(self, *words): pass
server = HTTPServer(("127.0.0.1", 0), Handler)
print(f"http://127.0.0.1:{server.server_port}/?token=t", flush=True)
try:
    server.serve_forever()
except KeyboardInterrupt:
    pass
"""


@pytest.fixture
def command(tmp_path: Path) -> Command:
    """A checkout whose `reading effects` knows the option `--times`, and which repeats other commands."""
    (tmp_path / "server.py").write_text(_SERVER)
    program = tmp_path / "python"
    program.write_text(
        f"""#!/bin/sh
case "$*" in
*"reading effects --help") echo "  [--times words|regions] [--people FILE]" ;;
*--help) echo "  [--timestamps]" ;;
*serve*) exec "{sys.executable}" -S {tmp_path}/server.py ;;
*) echo "$@" ;;
esac
"""
    )
    program.chmod(0o755)
    return Command(None, tmp_path, str(program))


def test_an_option_is_given_where_the_checkout_has_it(command: Command) -> None:
    assert (
        command("reading effects t.csv [--times words] -o e").stdout
        == "-m syntagm reading effects t.csv --times words -o e\n"
    )
    assert command("reading fit t.csv [--times words] [--slopes s.csv]").stdout == "-m syntagm reading fit t.csv\n"


def test_a_server_is_asked_and_ended(command: Command) -> None:
    asks = {"all.csv": "/overview.csv", "one.csv": "/suite/a.csv?table=scores", "none.csv": "/none"}
    done = command("serve runs/a", {f"served/{name}": address for name, address in asks.items()})
    # A refused answer is exit code 1.
    assert (done.returncode, done.stderr) == (1, "")
    assert {path.name: path.read_text() for path in (command.work / "served").iterdir()} == {
        "all.csv": "/overview.csv",
        "one.csv": "/suite/a.csv?table=scores",
        "none.csv.refused.txt": "404\n",
    }


def test_inputs_are_the_same_each_time(tmp_path: Path) -> None:
    for name in ("first", "second"):
        inputs.texts(tmp_path / name)
    first, second = (
        {path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} for name in ("first", "second")
    )
    assert first == second
    rows = pl.read_csv(first["times.csv"])
    # Everybody reads each word of each story once, and every word has a frequency.
    assert rows.select("participant", "story", "position").is_unique().all()
    words = set(rows["word"].str.to_lowercase().str.strip_chars("."))
    assert words <= set(pl.read_csv(first["frequencies.csv"])["word"])


def test_lines_by_the_clock_are_not_kept(tmp_path: Path) -> None:
    lines = "12 of 40 sentences, 5 per second, 6 s left\nstep 2 of 48, loss 2.5, rate 0.1, 5,642 tokens/s, 0 min left at most\n"
    (tmp_path / "a_2026-01-02T03-04-05-abc.said").write_text(f"{lines}12 of 40 flipped items, 2 left out\n")
    found = normal.kept([*tmp_path.iterdir()], tmp_path, {})
    assert found["a_TIME-abc.said"] == "12 of 40 flipped items, 2 left out\n"
    assert found["a_TIME-abc.said.numbers"] == "12\n40\n2\n"


def test_a_view_that_no_step_asks_for_has_one_of_its_own() -> None:
    """The checkout calls the table `discordant` as it did before, and has a view that nobody listed."""

    def checkout(words: str) -> SimpleNamespace:
        views = (
            "flips     of old\nscores    of suites\nlately    new\n"
            if words.startswith("table")
            else "scores  of suites\n"
        )
        return SimpleNamespace(stdout=views)

    [step] = Views(cast(Command, checkout)).unasked()
    assert (step.out, step.views, step.quick) == ("tables/lately-plain", [("table", "lately")], True)
    runs = step.command.removeprefix("table lately ").removesuffix(" -o {out}").split()
    assert {one.out for one in STEPS if one.quick} > set(runs)


def test_steps_have_names_of_their_own_and_quick_ones_rest_on_quick_ones() -> None:
    names = [one.out for one in STEPS]
    assert len(set(names)) == len(names)
    for at, one in enumerate(STEPS):
        used = {
            word.partition("?")[0].strip("'").removeprefix("ngram:").removeprefix("recorded:")
            for word in one.command.split()
        }
        assert used.isdisjoint(names[at:]), f"{one.out} uses what is made later"
        if one.quick:
            slow = {other.out for other in STEPS if not other.quick}
            assert used.isdisjoint(slow), f"{one.out} is quick"
