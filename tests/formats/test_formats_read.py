"""Finding the format of a file, finding files, and the limits of what is read."""

import inspect
import json
import os
import tracemalloc
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from samples_for_tests import DATA, FILES, UNCLAIMED, WRITTEN, of_format

from syntagm.core import (
    InputError,
    SyntagmError,
    UsageError,
    csv,
    json as strict_json,
    permissions,
    registry as folder,
    shape,
)
from syntagm.evaluation import linking
from syntagm.reading_times import tables
from syntagm.runs.imported import minicons
from syntagm.suites import (
    claimed,
    collections,
    excluded,
    expand,
    options_of,
    read_suite_file,
    read_word_list,
)
from syntagm.suites.materials import suite_files

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "formats.md"
LANTERNS = DATA / "syntaxgym" / "lanterns.json"


def test_blanks_around_cells_are_no_content_in_other_tables_either(tmp_path: Path) -> None:
    def table(name: str, *lines: str) -> Path:
        (tmp_path / name).write_text("\n".join(lines) + "\n")
        return tmp_path / name

    assert excluded.read(table("out.csv", "suite, item", "kites, 1 ", 'kites , " 2"')) == (
        ("kites", "1"),
        ("kites", " 2"),
    )
    listed = read_word_list(table("words.csv", "lemma, form:sg, form:pl", 'oar, "oar" , oars'))
    assert listed.rows[0].forms == ("oar", "oars")
    [pair] = minicons.read([table("m.csv", "good, bad, score_good, score_bad", "A b., A c., -1, -2")])
    assert (pair.good, pair.bad) == ("A b.", "A c.")
    assert linking.read_ratings(str(table("r.csv", "text, rating", "A b., 5"))) == {"A b.": 5.0}
    words = tables.open_table(table("times.csv", "word, token, RT", " oars,  oar, 300", "sink , s, 310"))
    frame = tables.interpret(words, {}).frame
    # Tokens keep theirs: a blank at the beginning says where a word begins.
    assert (frame["word"].to_list(), frame["token"].to_list()) == (["oars", "sink"], ["  oar", " s"])


_CELLS = st.text(alphabet=' \t\u3000\r\n",;|ab', max_size=5)


@given(st.lists(st.lists(_CELLS, min_size=2, max_size=2), min_size=1, max_size=4), st.sampled_from(",;\t|"))
@settings(max_examples=30, deadline=None)
def test_tables_are_written_so_that_the_same_cells_are_read(rows: list[list[str]], mark: str) -> None:
    path = Path("x.csv")
    assert [row for _, row in csv.rows(csv.plain(rows, mark), path, mark)] == rows
    assert [row for _, row in csv.rows(csv.plain(rows, mark, blanks=True), path, mark, blanks=True)] == rows
    # What a person types around unquoted cells, or around quotation marks, changes nothing.
    typed = [f'  "{first.replace(chr(34), 2 * chr(34))}" {mark} b c  ' for first, _ in rows]
    assert [row for _, row in csv.rows("\n".join(typed), path, mark)] == [[first, "b c"] for first, _ in rows]


class TestFormat:
    def test_every_format_has_a_sample_and_every_sample_is_claimed_by_one_format_or_by_none(self) -> None:
        for name in folder.names("formats"):
            assert of_format(name) or name in WRITTEN, f"no sample in tests/data/{name}"
        for path in FILES:
            assert len(claimed(path)) == (path.name not in UNCLAIMED), path

    def test_every_format_reads_and_claims(self) -> None:
        for name in folder.names("formats"):
            module = folder.find("formats", name)
            assert callable(module.read), name
            assert module.claims(Path("x.xml"), "<xml>") is False, name

    @pytest.mark.parametrize(
        ("path", "expected"),
        [
            ("a.csv", ("a.csv", {})),
            ("a.csv?good=x", ("a.csv", {"good": "x"})),
            ("a.csv?good=x y&bad==&id=", ("a.csv", {"good": "x y", "bad": "=", "id": ""})),
            ("what?.json", ("what?.json", {})),
            ("what?.json?joined=hub", ("what?.json", {"joined": "hub"})),
        ],
    )
    def test_options(self, path: str, expected: tuple[str, dict[str, str]]) -> None:
        assert options_of(path) == expected

    def test_a_file_whose_name_looks_like_options(self, tmp_path: Path) -> None:
        path = tmp_path / "a.tsv?joined=hub"
        path.write_text("good\tbad\nx\ty\n")
        assert read_suite_file(path)[0].name == "a"

    def test_good_and_bad_suffice_to_say_that_it_is_a_table_of_pairs(self) -> None:
        assert read_suite_file(f"{DATA / 'pairs/unknown.csv'}?good=right&bad=off")[0].name == "unknown"

    def test_two_formats_that_claim_a_file_are_named(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(folder.find("formats", "zorro"), "claims", lambda path, head: True)
        with pytest.raises(
            InputError, match=r"more than one format claims it: syntaxgym, zorro.*lanterns.json.format=NAME"
        ):
            read_suite_file(LANTERNS)

    @pytest.mark.parametrize(
        ("name", "content", "message"),
        [
            ("cut.json", b'{"meta": {"name": "x"', "line 1, column 22: not valid JSON"),
            ("cut.jsonl", b'{"a": 1}\n{"b"', "line 2, column 5: not valid JSON"),
            ("picture.json", b"\x89PNG\r\n\0\0", "a NUL character"),
            (
                "packed.csv",
                b"\x1f\x8b\x08\xff",
                "not UTF-8; expected UTF-8. Save the file again in UTF-8 (in a spreadsheet: CSV UTF-8)",
            ),
            ("notes.txt", b"notes", "no format claims it. Name one, as in notes.txt?format=NAME"),
            (
                "excel.csv",
                b"sep=;\r\ngood;bad\r\nIda sings.;Ida sing.\r\n",
                "its first line is sep=;, which is for Excel alone",
            ),
            (
                "prose.txt",
                b"Ida sings.\nYes, Bo hums.\nOn and on.\nSo it is.\n",
                "prose.txt: no format claims it. Name one",
            ),
            (
                "a.csv",
                b"ok,not ok,n\nIda sings.,Ida sing.,1\n",
                "claims it: its first row is 'ok', 'not ok', 'n'. Name one",
            ),
            (
                "a.jsonl",
                b'{"ok": "Ida sings.", "no": "Ida sing."}',
                "no format claims it: its keys are 'ok', 'no'. Name",
            ),
            (
                "a.tsv",
                b"so\t1\nthe\t2\n",
                "'so', '1'; in its two columns, 0 of 2 rows are two sentences of 3 words or more",
            ),
            ("a.tsv", b"so\t1\nthe\t2\n", "If a table of pairs has no header, insert a first line with the names good"),
            (
                "a.csv",
                b"n,good,bad\na,1,2\n",
                "its first row is 'n', 'good', 'bad'; the column 'good' holds numbers. Name",
            ),
        ],
    )
    def test_a_file_that_no_format_claims_is_looked_into(
        self, tmp_path: Path, name: str, content: bytes, message: str
    ) -> None:
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InputError) as caught:
            read_suite_file(tmp_path / name)
        assert message in str(caught.value)

    def test_not_a_file(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe")
        for path, message in [
            (tmp_path, "a folder; expected one file"),
            (tmp_path / "none.json", "no such file"),
            (tmp_path / "pipe", "a pipe, not a regular file; expected a file"),
            (Path("a\0b"), "no such file"),
            (Path("a" * 5000), "too long"),
        ]:
            with pytest.raises(InputError, match=message):
                read_suite_file(path)


class TestExpand:
    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        for name in (
            "b.tsv",
            "sub/a.tsv",
            "README.txt",
            ".hidden.tsv",
            ".git/c.tsv",
            "notes.txt",
            "suite.csv",
            "page.html",
        ):
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text("prose\n" if name in ("notes.txt", "README.txt") else "good\tbad\nx\ty\n")
        (tmp_path / "suite.json").write_bytes(LANTERNS.read_bytes())
        return tmp_path

    def test_a_folder_means_all_its_files_that_a_format_claims(self, folder: Path) -> None:
        skipped: list[str] = []
        found = [Path(file).relative_to(folder).as_posix() for file in expand([str(folder)], skipped)]
        assert found == ["b.tsv", "sub/a.tsv", "suite.json"]
        assert skipped == [
            f"{folder / 'notes.txt'}: no format claims it",
            f"{folder / 'suite.csv'}: its suite is in suite.json",
        ]

    def test_patterns_options_and_repetitions(self, folder: Path) -> None:
        found = expand([f"{folder}/*.json?joined=hub", f"{folder}/sub/*", f"{folder / 'b.tsv'}", f"{folder / 'b.tsv'}"])
        assert found == [f"{folder / 'suite.json'}?joined=hub", f"{folder / 'sub' / 'a.tsv'}", f"{folder / 'b.tsv'}"]

    def test_a_file_is_taken_as_it_is(self, folder: Path) -> None:
        assert expand([f"{folder / 'notes.txt'}"]) == [f"{folder / 'notes.txt'}"]

    def test_an_unclaimed_file_of_a_folder_is_read_if_the_format_is_said(self, folder: Path) -> None:
        assert f"{folder / 'notes.txt'}?format=zorro" in expand([f"{folder}?format=zorro"])

    def test_links_are_followed(self, folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
        other = tmp_path_factory.mktemp("other") / "linked.tsv"
        other.write_text("good\tbad\nx\ty\n")
        (folder / "link.tsv").symlink_to(other)
        assert f"{folder / 'link.tsv'}" in expand([str(folder)])

    @pytest.mark.parametrize(
        "name", ["nothing_here", "../nothing_here", "hu2020/../../formats", "a\0b", "", "x" * 5000]
    )
    def test_what_means_nothing(self, name: str) -> None:
        with pytest.raises(UsageError, match="expected"):
            expand([name])

    def test_a_folder_without_suites(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="no suites in this folder"):
            expand([str(tmp_path)])


class TestCollections:
    @pytest.fixture
    def materials(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        for name in ("suites/lanterns.json", "suites/more/others.json"):
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_bytes(LANTERNS.read_bytes())
        (tmp_path / "lexicon").mkdir()
        (tmp_path / "lexicon" / "nouns.csv").write_text("lemma,number\nkite,1\n")
        (tmp_path.parent / "secret.json").write_bytes(LANTERNS.read_bytes())
        monkeypatch.setattr(suite_files, "_MATERIALS", tmp_path)
        return tmp_path

    def test_collections_are_folders_that_hold_suites(self, materials: Path) -> None:
        assert collections() == ["suites"]

    def test_a_collection_or_one_suite_of_it(self, materials: Path) -> None:
        files = [str(materials / "suites" / name) for name in ("lanterns.json", "more/others.json")]
        assert expand(["suites"]) == expand(["suites/"]) == files
        assert expand(["suites/others"]) == files[1:]
        assert expand(["suites?joined=hub"]) == [f"{file}?joined=hub" for file in files]

    def test_files_are_named_without_reading_collections(
        self, materials: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Whatever lies beside them, 300 files take as long as their folder."""
        file = str(materials / "suites" / "lanterns.json")

        def read(path: Path) -> None:
            raise AssertionError(path)

        monkeypatch.setattr(suite_files, "claimed", read)
        assert expand([file] * 300) == [file]

    def test_bundled_names_win_over_paths(
        self, materials: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        here = tmp_path_factory.mktemp("here")
        (here / "suites").mkdir()
        monkeypatch.chdir(here)
        assert len(expand(["suites"])) == 2

    @pytest.mark.parametrize(
        "name", ["suites/../secret", "suites/../../secret.json", "suites//etc/passwd", "suites/..", "suites/nothing"]
    )
    def test_names_do_not_escape(self, materials: Path, name: str) -> None:
        with pytest.raises(UsageError, match=r"no suite .* in suites; expected one of lanterns, others"):
            expand([name])

    @pytest.mark.parametrize("name", ["../secret", ".", "lexicon/nouns", "nothing"])
    def test_other_names_are_no_collections(self, materials: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(materials / "lexicon")
        with pytest.raises(UsageError):
            expand([name])


ODD = [
    (b'{"meta": 1, "meta": 2}', 'odd.json: the key "meta" twice in one object'),
    (b'{"meta": {},\n "items": [{"a": {"b": 1, "\\u0062": 2}}]}', 'odd.json: the key "b" twice'),
    (b'{"meta": {}, "items": NaN}', "odd.json: NaN"),
    (b'{"meta": {}, "items": [-Infinity]}', "odd.json: -Infinity"),
    (b'{"meta": {}, "items": 1e999}', "odd.json: the number 1e999; expected a finite number"),
    (b'{"meta": {}, "items": ' + b"9" * 5000 + b"}", "odd.json: an integer of 5000 digits; expected at most 18"),
    (b'{"meta": {}, "items": "\\ud800"}', "column 24: a lone surrogate"),
    (b'{"meta": {}, "items": "\\udc00\\ud800"}', "column 24: a lone surrogate"),
    (b'{"meta": {}, "items": "\\ud83d\\ude00 \\ud83d"}', "column 37: a lone surrogate"),
    (b'{"meta": {}, "items": "a\\u0000b"}', "column 25: a NUL character"),
    (b'{"meta": {}, "items": "a\tb"}', "column 25: not valid JSON: invalid control character"),
    (b'{"meta": {},\n\n "items": "a\0b"}', "line 3: a NUL character"),
    (b'{"meta": {}, "items":\n "\xff"}', "line 2: byte 0xff, which is not UTF-8"),
    (b'{"meta": {}, "items": "\xed\xa0\x80"}', "line 1: byte 0xed, which is not UTF-8"),
    ('{"meta": {}, "items": []}'.encode("utf-16"), "a UTF-16 file; expected UTF-8. Save the file again"),
    (b'{"meta": {}, "items": []', "line 1, column 25: not valid JSON"),
    (b'{"meta": {}, "items": []} x', "line 1, column 27: not valid JSON: extra data"),
    (b'{"meta": {}, "items": [' + b"[" * 64 + b"]" * 64 + b"]}", "brackets nested more than 64 deep"),
    (b'{"meta": {}, "items": ' + b'{"a":' * 100_000, "brackets nested more than 64 deep"),
    (b'{"meta": {}, "items": [' + b"[" * 100_000, "brackets nested more than 64 deep"),
    (b'{"meta": {}, "items": [' + b"0," * 2_000_000 + b"0]}", "more than 2,000,000 values"),
    (b"[]", "a list; expected an object"),
    (b"", "not valid JSON"),
]


class TestLimits:
    @pytest.mark.parametrize(("content", "message"), ODD, ids=[message[:40] for _, message in ODD])
    def test_odd_json_is_refused(self, tmp_path: Path, content: bytes, message: str) -> None:
        path = tmp_path / "odd.json"
        path.write_bytes(content)
        with pytest.raises(InputError) as caught:
            read_suite_file(f"{path}?format=syntaxgym")
        assert str(caught.value).startswith(str(path))
        assert message in str(caught.value)

    def test_depth_64_is_read_and_brackets_in_texts_do_not_count(self) -> None:
        deep = "[" * 64 + "1" + "]" * 64
        assert strict_json.parsed(deep, Path("x"))
        text = json.dumps(['[{"' * 1000 + "\\"] * 70)
        assert strict_json.parsed(text, Path("x")) == ['[{"' * 1000 + "\\"] * 70

    def test_whole_surrogate_pairs_and_escaped_backslashes_are_read(self) -> None:
        assert strict_json.parsed('["\\ud83d\\ude00", "\\\\ud800", "\\\\u0000"]', Path("x")) == [
            "😀",
            "\\ud800",
            "\\u0000",
        ]

    def test_a_byte_order_mark_is_dropped(self, tmp_path: Path) -> None:
        path = tmp_path / "bom.json"
        path.write_bytes(b"\xef\xbb\xbf" + LANTERNS.read_bytes())
        assert read_suite_file(path)[0].items == read_suite_file(LANTERNS)[0].items

    def test_64_megabytes(self, tmp_path: Path) -> None:
        path = tmp_path / "huge.json"
        with path.open("wb") as file:
            file.write(b'{"meta": {}, "items": [')
            file.truncate(2**26 + 1)
        with pytest.raises(InputError, match=r"more than 64 MB; expected at most 64 MB\. Split it"):
            read_suite_file(path)

    def test_a_million_items(self, monkeypatch: pytest.MonkeyPatch) -> None:
        shape.count(1_000_000, Path("x"))
        with pytest.raises(InputError, match="more than 1,000,000 items"):
            shape.count(1_000_001, Path("x"))
        monkeypatch.setattr(shape, "MAX_ITEMS", 1)
        for name in (
            "syntaxgym/lanterns.json",
            "syntaxgym/lanterns.csv",
            "blimp/gate_order.jsonl",
            "pairs/typed.tsv",
            "pairs/list.json",
            "clams/subjects.tsv",
            "climp/climp.csv",
            "comps/properties.jsonl",
            "ewok/worlds.csv",
            "zorro/agreement-across_pp.txt?format=zorro",
        ):
            with pytest.raises(InputError, match="more than 1 items"):
                read_suite_file(f"{DATA / name}")

    @pytest.mark.parametrize(
        "hostile",
        [
            b"[" * 4_000_000,
            b'{"":' * 1_000_000,
            b"[]," * 3_000_000,
            b'"' + b'\\"' * 4_000_000,
            b'["' + b"\\u0041" * 2_000_000 + b"\\ud800",
            b"[" + b"1" * 8_000_000,
        ],
        ids=["deep lists", "deep objects", "many values", "quotation marks", "escapes", "digits"],
    )
    def test_hostile_files_cost_little(self, tmp_path: Path, hostile: bytes) -> None:
        path = tmp_path / "hostile.json"
        path.write_bytes(hostile)
        tracemalloc.start()
        with pytest.raises(InputError):
            read_suite_file(f"{path}?format=syntaxgym")
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        # The bytes, the text, and in the case of digits two copies of them.
        assert peak < 4.1 * len(hostile)

    @pytest.mark.slow
    def test_nothing_takes_quadratic_time(self, tmp_path: Path) -> None:
        """With numbers such as these it would take hours, and the limit on a test's time would end it."""
        whole = json.loads(LANTERNS.read_text())
        whole["items"][0]["conditions"][0]["regions"] = [
            {"region_number": n, "content": "word"} for n in range(1, 200_001)
        ]
        keys = ", ".join(f'"{number}": 0' for number in range(200_000))
        hostile = {
            "regions.json?joined=hub": json.dumps(whole),
            "keys.json?format=syntaxgym": f'{{{keys}, "199999": 1}}',
            "columns.csv?format=pairs": "good,bad," + ",".join(map(str, range(300_000))) + ",299999\n",
            "commas.csv?format=pairs": "good,bad" + "," * 10_000_000,
            "blanks.json?joined=hub": LANTERNS.read_text().replace("softly", " " * 5000 + ".,"),
        }
        for name, text in hostile.items():
            (tmp_path / name.partition("?")[0]).write_text(text)
            try:
                read_suite_file(f"{tmp_path / name}")
            except InputError as refusal:
                assert str(refusal)

    @pytest.mark.slow
    @pytest.mark.parametrize("unit", [b"[", b'{"a":', b"[],", b'"\\"\\"', b'"a","', b"0,", b'"\\u0041'])
    def test_the_biggest_hostile_files(self, tmp_path: Path, unit: bytes) -> None:
        path = tmp_path / "hostile.json"
        path.write_bytes(b"[" + unit * (2**26 // len(unit) - 1))
        with pytest.raises(InputError):
            read_suite_file(f"{path}?format=syntaxgym")


FORMATS = folder.names("formats")


@pytest.mark.parametrize("name", FORMATS)
def test_a_format_declares_what_the_package_reads_off_it(name: str) -> None:
    """Its options, the endings of its files, and whether it writes: nothing of it stands anywhere else."""
    module = folder.find("formats", name)
    path, *options = inspect.signature(module.read).parameters.values()
    assert path.name == "path"
    for option in options:
        assert option.kind is option.KEYWORD_ONLY, option
        assert option.default is False if option.name in permissions.NAMES else isinstance(option.default, str), option
    assert all(ending.startswith(".") for ending in (*module.ENDINGS, *getattr(module, "WRITES", ())))
    assert hasattr(module, "write") == bool(getattr(module, "WRITES", ()))
    assert not module.claims(Path("a.unknown"), "")
    assert f"\n| `{name}` |" in PAGE.read_text(encoding="utf-8")


SEEDS = [path.read_bytes() for path in FILES]
garbage = st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass"))


def mutants(seed: bytes) -> st.SearchStrategy[bytes]:
    """A fixture with a piece cut out, doubled, or replaced."""
    place = st.integers(0, len(seed))
    pieces = st.sampled_from(
        [b"", b'"', b",", b"\t", b"\n", b"{", b"]", b"null", b"\\", b"\xff", b"\xe2\x80\xae", b"1e5", b"\r", b"True"]
    )
    return st.builds(
        lambda start, length, piece: seed[:start] + piece + seed[start + length :], place, st.integers(0, 40), pieces
    )


def reads_or_refuses(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    for name in FORMATS:
        try:
            suites = read_suite_file(f"{path}?format={name}")
        except SyntagmError as refusal:
            assert str(refusal)
            continue
        assert suites
        assert all(
            isinstance(sentence.text, str)
            for suite in suites
            for item in suite.items
            for sentence in item.sentences.values()
        )


@pytest.mark.slow
@settings(max_examples=60)
@given(content=garbage | st.sampled_from(SEEDS).flatmap(mutants))
def test_fuzz(content: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    reads_or_refuses(tmp_path_factory.mktemp("fuzz") / "fuzz.json", content)


JSON_FILES = [path for path in FILES if ".json" in path.suffix]
VALUES = ([1], {"a": 1}, None, True, 1.5, "", -1)


@pytest.mark.slow
@pytest.mark.parametrize("seed", JSON_FILES, ids=[path.name for path in JSON_FILES])
def test_a_value_of_another_type_is_read_or_refused(tmp_path: Path, seed: Path) -> None:
    lines = [json.loads(line) for line in seed.read_text().splitlines()] if seed.suffix == ".jsonl" else None
    whole = lines if lines is not None else json.loads(seed.read_text())
    for place in places(whole):
        for value in VALUES:
            changed = replaced(whole, place, value)
            rows = changed if lines is not None else [changed]
            (tmp_path / seed.name).write_text("\n".join(map(json.dumps, rows)) + "\n")
            try:
                assert read_suite_file(tmp_path / seed.name)
            except SyntagmError as refusal:
                assert str(refusal)


def places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths to all values within a JSON value."""
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield (*place, key)
        yield from places(value[key], (*place, key))


def replaced(value: Any, place: Sequence[Any], new: Any) -> Any:
    if not place:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[place[0]] = replaced(value[place[0]], place[1:], new)
    return copy


@pytest.mark.slow
@settings(max_examples=2_500)  # `python -m tests.fuzzing` tries a million
@given(content=garbage | st.sampled_from(SEEDS).flatmap(mutants))
def test_fuzz_longer(content: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    reads_or_refuses(tmp_path_factory.getbasetemp() / "fuzz.json", content)


def test_a_folder_that_cannot_be_listed_is_refused_not_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "open.tsv").write_text("good\tbad\na b\ta c\n")
    (tmp_path / "closed").mkdir()
    scan = os.scandir

    def refusing(path: str) -> object:
        if str(path).endswith("closed"):
            raise PermissionError(13, "Permission denied", path)
        return scan(path)

    monkeypatch.setattr(os, "scandir", refusing)
    with pytest.raises(InputError, match="closed: can't be listed: Permission denied; expected a readable folder"):
        expand([str(tmp_path)])
