"""The pickles of Marvin & Linzen 2018, and what hides in pickles that are none."""

import array
import datetime
import os
import pickle
import struct
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from syntagm.cli import main
from syntagm.core import InputError, UsageError
from syntagm.suites import Suite, read_suite_file, violations

PAIRS = {
    "sing_MS_MV_sing_ES": [("the monk near the goat hums", "the monk near the goat hum")],
    "sing_MS_MV_plur_ES": [
        ("the monk near the goats hums", "the monk near the goats hum"),
        ("the monk near the goats is calm", "the monk near the goats are calm"),
    ],
    "plur_MS_MV_sing_ES": [("the monks near the goat hum", "the monks near the goat hums")],
    "plur_MS_MV_plur_ES": [("the monks near the goats hum", "the monks near the goats hums")],
}
TRIPLES = {
    "past": [("no monks have ever hummed", "the monks have ever hummed", "most monks have ever hummed")],
    "future": [("no monks will ever hum", "the monks will ever hum", "most monks will ever hum")],
}


def read(path: Path, options: str = "") -> Suite:
    (suite,) = read_suite_file(f"{path}{options}", allow_pickle=True)
    return suite


def saved(folder: Path, content: object, name: str = "prep_anim.pickle", protocol: int = 3) -> Path:
    path = folder / name
    path.write_bytes(pickle.dumps(content, protocol))
    return path


class TestReading:
    @pytest.mark.parametrize("protocol", range(6))
    def test_every_protocol(self, tmp_path: Path, protocol: int) -> None:
        suite = read(saved(tmp_path, PAIRS, protocol=protocol))
        assert [item.id for item in suite.items][:3] == [
            f"sing_MS_MV_{end}" for end in ("sing_ES/0", "plur_ES/0", "plur_ES/1")
        ]
        assert len(suite.items) == 5
        assert list(violations([suite])) == []

    def test_a_pair(self, tmp_path: Path) -> None:
        suite = read(saved(tmp_path, PAIRS))
        item = suite.items[2]
        assert {name: [one.content(region.name) for region in one.regions] for name, one in item.sentences.items()} == {
            "good": ["the monk near the goats", "is", "calm"],
            "bad": ["the monk near the goats", "are", "calm"],
        }
        assert item.tags == {"configuration": "sing_MS_MV_plur_ES", "number": "sing", "attractor": "plur"}
        assert {one.name: str(one.formula) for one in suite.predictions} == {
            "full_sentence": "(*;%good%) < (*;%bad%)",
            "one_prefix": "(critical;%good%) < (critical;%bad%)",
        }
        assert (suite.name, suite.tags["construction"], suite.tags["animacy"]) == (
            "prep_anim",
            "Across a prepositional phrase",
            "animate",
        )

    def test_a_triple(self, tmp_path: Path) -> None:
        suite = read(saved(tmp_path, TRIPLES, "simple_npi_inanim.pkl"))
        assert [item.id for item in suite.items] == ["past/0", "future/0"]
        assert suite.items[0].tags == {"configuration": "past", "tense": "past"}
        assert [one.content("critical") for one in suite.items[1].sentences.values()] == ["ever"] * 3
        assert {one.name: str(one.formula) for one in suite.predictions} == {
            "grammatical_intrusive": "(*;%grammatical%) < (*;%intrusive%)",
            "grammatical_ungrammatical": "(*;%grammatical%) < (*;%ungrammatical%)",
            "intrusive_ungrammatical": "(*;%intrusive%) < (*;%ungrammatical%)",
        }
        assert (suite.tags["construction"], suite.tags["animacy"]) == ("NPI: simple", "inanimate")

    def test_an_unknown_name_has_no_construction(self, tmp_path: Path) -> None:
        assert "construction" not in read(saved(tmp_path, PAIRS, "mine.pickle")).tags

    def test_natural_style_adds_no_second_full_stop(self, tmp_path: Path) -> None:
        stopped = {"sing_MS_MV": [("the monk hums.", "the monk hum.")]}
        [item] = read(saved(tmp_path, stopped), "?style=natural").items
        assert [one.text for one in item.sentences.values()] == ["The monk hums.", "The monk hum."]

    def test_natural_style(self, tmp_path: Path) -> None:
        first = read(saved(tmp_path, PAIRS), "?style=natural").items[0].sentences["good"]
        assert first.text == "The monk near the goat hums."
        assert [first.content(name) for name in ("prefix", "critical", "rest")] == [
            "The monk near the goat",
            "hums",
            ".",
        ]

    def test_rows_that_are_lists_and_texts_that_occur_again(self, tmp_path: Path) -> None:
        content = {key: [list(row) for row in rows] for key, rows in PAIRS.items()}
        assert read(saved(tmp_path, content)).items == read(saved(tmp_path, PAIRS)).items

    def test_a_draw_is_even_over_configurations_and_always_the_same(self, tmp_path: Path) -> None:
        many = {key: [(f"a{n} hums", f"a{n} hum") for n in range(9)] for key in ("sing_MS_MV", "plur_MS_MV", "other")}
        path = saved(tmp_path, many)
        drawn = [item.id for item in read(path, "?n=7").items]
        # 7 of three configurations: 3 + 2 + 2, each in the order of the file.
        assert [id.split("/")[0] for id in drawn] == ["sing_MS_MV"] * 3 + ["plur_MS_MV"] * 2 + ["other"] * 2
        assert drawn == [item.id for item in read(path, "?n=7&seed=1").items]
        assert drawn != [item.id for item in read(path, "?n=7&seed=2").items]
        assert len(read(path, "?n=1000").items) == 27

    def test_a_draw_takes_from_big_configurations_what_small_ones_lack(self, tmp_path: Path) -> None:
        sizes = {"sing_MS_MV": 9, "plur_MS_MV": 1, "other": 2}
        path = saved(tmp_path, {key: [(f"a{n} hums", f"a{n} hum") for n in range(size)] for key, size in sizes.items()})
        keys = [item.tags["configuration"] for item in read(path, "?n=10").items]
        # 10 = 7 + 1 + 2: the first gives what the second and the third don't have.
        assert {key: keys.count(key) for key in keys} == {"sing_MS_MV": 7, "plur_MS_MV": 1, "other": 2}

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            ({}, "no rows"),
            ({"sing_MS_MV": []}, "no rows"),
            ({"k": [("one", "two"), ("one", "two", "three")]}, "rows of 2 and 3 sentences"),
            ({"k": [("one",)]}, "rows of 1 sentences"),
            ({"k": [("a b c", "a d e")]}, r"k/0: .*expected two sentences that differ in one word"),
            ({"k": [("a b", "a b")]}, "differ in one word"),
            ({"k": [("a b", "a b c")]}, "differ in one word"),
            ({"k": [("no monks hum", "a monk hums", "b")]}, "a sentence with the word 'ever'"),
            ({"k": ["ab"]}, "k/0: a str; expected a tuple of sentences"),
            ({"k": [("a", "b\0")]}, "a NUL character or a lone surrogate"),
            ({"k": [("a", "b\ud800")]}, "a NUL character or a lone surrogate"),
            ({"k": [("a", "b" * 10_001)]}, "10001 characters"),
        ],
    )
    def test_another_layout(self, tmp_path: Path, content: object, message: str) -> None:
        with pytest.raises(InputError, match=message):
            read(saved(tmp_path, content))


class TestPermission:
    def test_none(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match=r"On the command line: --allow-pickle; in Python: allow_pickle=True"):
            read_suite_file(saved(tmp_path, PAIRS))

    @pytest.mark.parametrize(
        "option",
        [
            "allow_pickle=yes",
            "style=loud",
            "n=x",
            "n=" + "9" * 5000,
        ],
    )
    def test_options_that_mean_nothing(self, tmp_path: Path, option: str) -> None:
        with pytest.raises(UsageError):
            read_suite_file(f"{saved(tmp_path, PAIRS)}?{option}", allow_pickle=True)

    def test_on_the_command_line(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        path = str(saved(tmp_path, PAIRS))
        assert main(["check", path]) == 1
        assert "E001 a pickle, which can contain a program" in capsys.readouterr().out
        assert main(["check", "--allow-pickle", str(tmp_path)]) == 0
        assert main(["convert", "--allow-pickle", path, str(tmp_path / "pairs.tsv")]) == 0
        assert main(["run", "toy", "--suite", path, "-o", str(tmp_path / "no")]) == 2
        line = ["run", "toy", "--suite", path, "--allow-pickle", "-o", str(tmp_path / "run"), "--no-report"]
        assert main(line) == 0


class Bait:
    """Pickles as a call of `function`."""

    def __init__(self, function: Callable[..., Any], *arguments: object) -> None:
        self.called = function, arguments

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[object, ...]]:
        return self.called


class Stateful:
    """Pickles as an object with a state."""

    def __init__(self) -> None:
        self.rows = ["a"]


def short(text: str) -> bytes:
    return b"\x8c" + bytes([len(text)]) + text.encode()


def doubled(end: bytes, begin: bytes = b"") -> bytes:
    """Instructions that make values with the one before twice in each, 60 times; their places in the memo are 1 to 60."""
    return b"".join(begin + (b"h" + bytes([place])) * 2 + end + b"\x94" for place in range(60))


def hostile(canary: str) -> dict[str, tuple[bytes, str]]:
    """Pickles by what they try, each with the name by which it must be refused."""
    make_it = Bait(os.mkdir, canary)
    cells = [("a", "b")]
    name = canary.encode()
    return {
        "reduce, protocol 0": (pickle.dumps({"k": make_it}, 0), r"the name .*mkdir"),
        "reduce, protocol 2": (pickle.dumps({"k": make_it}, 2), r"the name .*mkdir"),
        "reduce, protocol 4": (pickle.dumps({"k": make_it}, 4), r"the name .*mkdir"),
        "in a row": (pickle.dumps({"k": [("a", make_it)]}, 4), r"the name .*mkdir"),
        "in the place of a row": (pickle.dumps({"k": [*cells, make_it]}, 5), r"the name .*mkdir"),
        "in the place of everything": (pickle.dumps(make_it, 3), r"the name .*mkdir"),
        "as a key": (pickle.dumps({make_it: cells}, 4), r"the name .*mkdir"),
        "eval": (
            pickle.dumps({"k": Bait(eval, f"__import__('os').mkdir({canary!r})")}, 4),
            r"the name builtins\.eval",
        ),
        "exec": (pickle.dumps({"k": Bait(exec, f"__import__('os').mkdir({canary!r})")}, 2), r"the name .*\.exec"),
        "import": (pickle.dumps({"k": Bait(__import__, "antigravity")}, 4), r"the name builtins\.__import__"),
        "system": (b"cos\nsystem\n(S'touch " + name + b"'\ntR.", r"the name os\.system"),
        "after the stop": (pickle.dumps(PAIRS, 3) + pickle.dumps(make_it, 0), "bytes after the end"),
        "instance": (b"(S'touch " + name + b"'\nios\nsystem\n.", r"INST \(os\.system\)"),
        "object": (b"(cos\nsystem\nS'touch " + name + b"'\no.", r"the name os\.system"),
        "new object": (b"\x80\x02cbuiltins\nobject\n)\x81.", r"the name builtins\.object"),
        "new object of what is on the stack": (b"\x80\x02}})\x81.", "EMPTY_TUPLE"),
        "state": (pickle.dumps({"k": Stateful()}, 2), r"the name .*_reconstructor|the name .*Stateful"),
        "state of a dictionary": (b"\x80\x02}}b.", "BUILD"),
        "reduce of what is on the stack": (b"\x80\x02}}R.", "REDUCE"),
        "extension 1": (b"\x80\x02\x82\x01.", r"EXT1 \(1\)"),
        "extension 2": (b"\x80\x02\x83\x01\x00.", r"EXT2 \(1\)"),
        "extension 4": (b"\x80\x02\x84\x01\x00\x00\x00.", r"EXT4 \(1\)"),
        "persistent": (b"P" + name + b"\n.", r"PERSID \("),
        "persistent, binary": (b"\x80\x02" + short("x").replace(b"\x8c\x01", b"X\x01\0\0\0") + b"Q.", "BINPERSID"),
        "buffer": (b"\x80\x05\x97.", "NEXT_BUFFER"),
        "read-only buffer": (b"\x80\x05}\x98.", "READONLY_BUFFER"),
        "names from the memo": (
            b"\x80\x04" + short("os") + b"\x94" + short("system") + b"\x94\x93.",
            r"the name os\.system",
        ),
        "a set": (pickle.dumps({"k": {"a"}}, 4), "EMPTY_SET"),
        "a frozen set": (pickle.dumps({"k": frozenset("a")}, 4), "FROZENSET"),
        "bytes": (pickle.dumps({"k": [(b"a", b"b")]}, 4), "SHORT_BINBYTES"),
        "bytes of an unknown encoding": (b"\x80\x02}U\x01\xe4]s.", "bytes that are not ASCII, 'ä'"),
        "a bytearray": (pickle.dumps({"k": bytearray(b"a")}, 5), "BYTEARRAY8"),
        "a number": (pickle.dumps({"k": [(1, 2)]}, 4), r"BININT1 \(1\)"),
        "a long number": (pickle.dumps({"k": [(1 << 90, 2)]}, 4), "LONG1"),
        "a fraction": (pickle.dumps({"k": [(0.5, "a")]}, 4), "BINFLOAT"),
        "nothing": (pickle.dumps({"k": None}, 4), "NONE"),
        "a truth value": (pickle.dumps({"k": True}, 4), "NEWTRUE"),
        "a date": (pickle.dumps({"k": datetime.date(2018, 10, 31)}, 4), r"the name datetime\.date"),
        "an ordered dictionary": (pickle.dumps(OrderedDict(k=cells), 4), r"the name collections\.OrderedDict"),
        "an array": (pickle.dumps({"k": array.array("d", [1])}, 4), r"the name array\._array_reconstructor"),
        "a numpy array": (pickle.dumps({"k": np.zeros(3)}, 4), r"the name numpy.*_reconstruct"),
        "a numbered place that needs 32 GB": (
            b"\x80\x02}r\xff\xff\xff\x7f.",
            "no rows",
        ),
        "a numbered place, as text": (b"}p4000000000\n.", "no rows"),
        "a negative place": (b"}p-1\n.", "no rows"),
        # Hashing the key would take 2**60 steps, and writing the lists as a name 2**60 characters.
        "tuples in tuples, as a key": (
            b"\x80\x04" + short("a") + b"\x94" + doubled(b"\x86") + b"}h" + bytes([60]) + b"]s.",
            "a tuple as the key of a dictionary",
        ),
        "lists in lists, as a name": (
            b"\x80\x04]\x94" + doubled(b"l", b"(") + (b"h" + bytes([60])) * 2 + b"\x93.",
            r"the name list\.list",
        ),
        "lists in lists in lists": (
            b"\x80\x04}" + short("k") + b"]\x94]\x94" + b"h\1a" * 9 + b"]\x94" + b"h\2a" * 9 + b"s.",
            "a list in the place",
        ),
        "a list in itself": (b"\x80\x04}" + short("k") + b"]\x94h\0as.", "a list in a row"),
        "a dictionary in itself": (b"\x80\x04}\x94" + short("k") + b"h\0s.", "k: a dict; expected a list"),
        "a dictionary as a row": (
            pickle.dumps({"k": [{"a": "b"}]}, 4),
            "k/0: a dict; expected a tuple of sentences",
        ),
        "a mark kept": (b"\x80\x04(\x94.", "a type; expected a dictionary"),
        "taking what is not there": (b"\x80\x04a.", r"damaged \("),
        "a mark that is not there": (b"\x80\x04}e.", r"damaged \("),
        "a memory that is not there": (b"\x80\x04h\x07.", r"damaged \("),
        "a copy": (b"\x80\x04}2.", "the instruction DUP"),
        "thrown away": (b"\x80\x04}}0.", "the instruction POP"),
        "an unknown instruction": (b"\x80\x04}\xff.", r"damaged \("),
        "a text of an exabyte": (b"\x80\x04\x8d" + struct.pack("<Q", 1 << 60) + b"a.", r"damaged \("),
        "a frame of an exabyte": (
            b"\x80\x04\x95" + struct.pack("<Q", 1 << 60) + b"}.",
            "no rows",
        ),
        "an unknown protocol": (b"\x80\x63}.", "no rows"),
        "one key twice": (b"\x80\x04}(" + (short("k") + b"]") * 2 + b"u.", "2 keys, of which only 1 are distinct"),
        "cut short": (pickle.dumps(PAIRS, 3)[:-20], r"damaged \("),
        "empty": (b"", r"damaged \("),
        "no pickle": (b'{"k": [["a", "b"]]}', r"damaged \("),
        "a list of rows": (pickle.dumps(cells, 4), "a list; expected a dictionary"),
        "too many instructions": (b"\x80\x04" + b"]" * 2_000_001, "more than 2,000,000 instructions"),
    }


NAMES = list(hostile("canary"))


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_what_is_hostile_odd_or_broken_is_refused_by_its_name(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    canary = tmp_path / "canary"
    content, message = hostile(str(canary))[name]
    path = tmp_path / "simple_agrmt.pickle"
    path.write_bytes(content)
    with pytest.raises(InputError, match=message):
        read(path)
    assert [file.name for file in tmp_path.iterdir()] == ["simple_agrmt.pickle"]


@pytest.mark.parametrize(
    "name", ["reduce, protocol 0", "reduce, protocol 4", "in a row", "eval", "exec", "system", "instance", "object"]
)
def test_the_bait_is_alive(name: str, tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    try:
        pickle.loads(hostile(str(canary))[name][0])
    finally:
        assert canary.exists()


def test_a_pickle_that_repeats_itself_at_no_cost(tmp_path: Path) -> None:
    long = "x " * 4_000
    row = (long + "hums", long + "hum")
    content = {f"k{number}": [row] * 100 for number in range(60)}
    path = saved(tmp_path, content)
    assert path.stat().st_size < 100_000
    # 60 * 100 rows of 2 * 8,003.5 characters are 96 million.
    with pytest.raises(
        InputError, match=r"rows or .* characters, or more; expected 1,000,000 rows and 67,108,864 characters at most"
    ):
        read(path)


@pytest.mark.slow
def test_a_row_without_characters_that_repeats_itself_at_no_cost(tmp_path: Path) -> None:
    row = b"](" + (short("") + b"\x94") + b"h\0" * 9_999 + b"e\x94"
    path = tmp_path / "simple_agrmt.pickle"
    path.write_bytes(b"\x80\x04}" + short("k") + b"](" + row + b"h\1" * 50_000 + b"es.")
    # 50,001 rows of 10,000 empty texts; the 6,711th passes 67,108,864.
    with pytest.raises(InputError, match=r"6,711 rows or 67,110,000 characters, or more; expected"):
        read(path)


@pytest.mark.parametrize("cut", range(0, 200, 7))
def test_a_flipped_byte_never_does_anything_but_read_or_refuse(cut: int, tmp_path: Path) -> None:
    content = bytearray(pickle.dumps(PAIRS, 3))
    for byte in (0, ord("c"), ord("R"), 0xFF):
        content[cut] = byte
        path = tmp_path / "simple_agrmt.pickle"
        path.write_bytes(bytes(content))
        try:
            read(path)
        except InputError as error:
            assert str(path) in error.place


COUNTS = {
    "prep_inanim": 5040,
    "sent_comp": 1680,
    "simple_agrmt": 140,
    "simple_npi_anim": 120,
    "simple_reflexives": 280,
    "vp_coord": 840,
}


@pytest.mark.slow
def test_the_published_pickles(shared: Path) -> None:
    suites = {
        suite.name: suite
        for path in sorted((shared / "data" / "marvin_linzen").glob("*.pickle"))
        for suite in [read(path)]
    }
    assert {name: len(suite.items) for name, suite in suites.items()} == COUNTS
    for suite in suites.values():
        keys = [item.tags["configuration"] for item in suite.items]
        # All configurations are of one size.
        assert len({keys.count(key) for key in set(keys)}) == 1
        assert not [finding for finding in violations([suite]) if finding.error]
