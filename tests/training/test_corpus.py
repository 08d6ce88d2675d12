"""Corpora: lines and trees, plain and gzipped, and what is refused with its place."""

import gzip
import hashlib
import os
import random
import tracemalloc
from pathlib import Path

import pytest

import syntagm as sg
from syntagm.cli import main
from syntagm.core import InputError, UsageError, lines as _lines
from syntagm.evaluation import baselines
from syntagm.training import corpus


def test_lines(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbfThe dog barks .\r\n\n \t\n  caf\xc3\xa9\xc2\xa0x \t\nend")
    assert list(corpus.texts([tmp_path / "a.txt"])) == ["The dog barks .", "café\xa0x", "end"]
    assert list(corpus.texts([str(tmp_path / "a.txt")], blank=True)) == [
        "The dog barks .",
        "",
        "",
        "café\xa0x",
        "end",
    ]
    assert list(corpus.sentences([tmp_path / "a.txt"]))[1] == ["café", "x"]


def test_only_line_feeds_end_lines(tmp_path: Path) -> None:
    # A carriage return among line feeds is white space, at the end of a line nothing.
    (tmp_path / "b").write_bytes(b"a\rb\r\nc\r")
    assert list(corpus.texts([tmp_path / "b"])) == ["a\rb", "c"]
    (tmp_path / "a").write_text("a\u2028b\x85c\x0bd\n", encoding="utf-8", newline="")
    assert list(corpus.texts([tmp_path / "a"])) == ["a\u2028b\x85c\x0bd"]


def test_files_of_all_kinds_in_their_order(tmp_path: Path) -> None:
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(b'one "two".\n') + gzip.compress(b"three\n"))
    # Gzipped whatever its name says.
    (tmp_path / "b.txt").write_bytes(gzip.compress(b"four"))
    (tmp_path / "c.trees").write_text("(S (A five) (-NONE- *)) (S (-NONE- *)) (S (-LRB- -LRB-))")
    (tmp_path / "d.parse.gz").write_bytes(gzip.compress(b"(S\n(A six))"))
    paths = [tmp_path / name for name in ("a.txt.gz", "b.txt", "c.trees", "d.parse.gz", "b.txt")]
    assert list(corpus.texts(paths)) == ['one "two".', "three", "four", "five", "-LRB-", "six", "four"]
    assert list(corpus.texts(paths[2:3], blank=True)) == ["five", "", "-LRB-"]
    assert list(corpus.sentences(paths[:1], "treebank")) == [["one", "``", "two", "''", "."], ["three"]]
    assert [str(tree) for tree in corpus.treebank(paths[3:4])] == ["(S (A six))"]
    assert corpus.files(paths) == paths


def test_record(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"one two\n")
    [entry] = corpus.record([tmp_path / "a.txt"])
    digest = hashlib.sha256(b"one two\n").hexdigest()
    assert entry == {"name": "a.txt", "files": 1, "bytes": 8, "sha256": digest}


GOOD = b"A dog barks .\n" * 3
# The same bytes in every process: pytest makes names of them, and its workers must agree on these.
PACKED = gzip.compress(random.Random(1).randbytes(3000).hex().encode() + b"\n" + GOOD * 1000, mtime=0)


@pytest.mark.parametrize(
    ("name", "content", "place", "found"),
    [
        ("a.txt", b"", "", "no sentences"),
        ("a.txt", b"\n \n\t\n", "", "no sentences"),
        ("a.txt", b"\xef\xbb\xbf", "", "no sentences"),
        ("a.trees", b"(S (-NONE- *))", "", "no sentences"),
        ("a.txt.gz", gzip.compress(b"", mtime=0), "", "no sentences"),
        ("a.txt", GOOD + b"caf\xe9 .\n", ", line 4", "byte 0xe9, which is not UTF-8"),
        ("a.txt", "A dog .\n".encode("utf-16"), "", "a UTF-16 file"),
        ("a.txt", GOOD.replace(b"\n", b"\r"), "", "lines that end with carriage returns alone"),
        ("a.txt", "A dog .\n".encode("utf-16-le"), ", line 1", "a NUL character"),
        ("a.txt", GOOD + b"a\0b\n", ", line 4", "a NUL character"),
        ("a.txt", b"x" * 1_000_001, ", line 1", "more than 1,000,000 characters in a line"),
        ("a.txt", GOOD + "é".encode() * 4_000_000, ", line 4", "more than 1,000,000 characters in a line"),
        ("a.ptb", b"(A (B c))\n(A (B c)\n", ", line 2", "the tree that begins here lacks 1 closing bracket"),
        ("a.txt.gz", GOOD, "", "no gzip data"),
        ("a.txt.gz", PACKED[:-1000], ", after line ", "damaged gzip data"),
        ("a.txt.gz", PACKED[:-1], ", after line ", "damaged gzip data"),
        ("a.txt.gz", PACKED[:2000] + b"\0" * 50 + PACKED[2050:], ", after line ", "damaged gzip data"),
        ("a.txt.gz", PACKED + b"more", ", after line ", "damaged gzip data"),
        ("a.trees.gz", gzip.compress(b"(A b)\n" * 999, mtime=0)[:-9], ", after line", "damaged gzip data"),
    ],
)
def test_bad_files(tmp_path: Path, name: str, content: bytes, place: str, found: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        list(corpus.texts([path]))
    assert caught.value.place.startswith(f"{path}{place}")
    assert caught.value.found.startswith(found)
    assert caught.value.expected


def test_exactly_the_longest_line(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("é" * 1_000_000 + "\n", encoding="utf-8")
    assert [len(text) for text in corpus.texts([tmp_path / "a.txt"])] == [1_000_000]


def test_what_is_no_file_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(GOOD)
    os.mkfifo(tmp_path / "pipe")
    for path, found in (("none.txt", "no such file"), ("", "a folder"), ("pipe", "not a regular file")):
        with pytest.raises(InputError, match=f"{found}; expected (a|one) file"):
            next(corpus.texts([tmp_path / "a.txt", tmp_path / path]))
    with pytest.raises(UsageError, match="no file"):
        next(corpus.texts([]))
    with pytest.raises(UsageError, match="not the name of a tree file"):
        next(corpus.treebank([tmp_path / "a.txt"]))
    with pytest.raises(UsageError, match="no set=; expected set=VALUE, one of xs, sm, "):
        next(corpus.texts([f"bllip:{tmp_path}"]))


@pytest.mark.slow
def test_a_bomb_is_refused_and_memory_stays_flat(tmp_path: Path) -> None:
    # 40 MB of the same line make 40 kB.
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress((b"a " * 2000 + b"\n") * 10_000))
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match="more than 250 times its size when decompressed"):
            for _ in _lines.read(tmp_path / "a.txt.gz"):
                pass
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()


def test_a_giant_line_is_not_read_whole(tmp_path: Path) -> None:
    with (tmp_path / "a.txt").open("wb") as file:
        file.truncate(10**12)
    with pytest.raises(InputError, match="NUL"):
        list(corpus.texts([tmp_path / "a.txt"]))


@pytest.mark.parametrize(
    ("part", "lines", "words"), [("train", 51_698, 1_045_389), ("valid", 2801, 57_555), ("test", 2841, 58_248)]
)
def test_brown(shared: Path, part: str, lines: int, words: int) -> None:
    lengths = [len(found) for found in corpus.sentences([shared / f"data/corpora/brown.{part}.txt"])]
    assert (len(lengths), sum(lengths)) == (lines, words)


def test_the_bundled_excerpt() -> None:
    found = list(corpus.texts(["excerpt"]))
    assert len(found) == 7309
    assert found[0].startswith("The Nellie, a cruising yawl")
    assert corpus.record(["excerpt"])[0]["name"] == "excerpt.txt"


def test_the_words_of_trees_are_not_split_again(tmp_path: Path) -> None:
    (tmp_path / "a.trees").write_text("(S (NP (NNP D.C.) (NNP AT&T)) (VP (VBZ '') (NNS Gotta)))\n")
    (tmp_path / "a.txt").write_text("AT&T's\n")
    (trees, text), words = (tmp_path / "a.trees", tmp_path / "a.txt"), ["D.C.", "AT&T", "''", "Gotta"]
    assert [*corpus.sentences([trees], "treebank")] == [words]
    assert [*corpus.sentences([trees], "treebank-lower")] == [[word.lower() for word in words]]
    assert [*corpus.sentences([trees, text], "treebank")] == [words, ["AT", "&", "T", "'s"]]
    assert [corpus.kind([trees], tokens) for tokens in ("auto", "moses", "moses-lower")] == [
        *["blanks"] * 2,
        "blanks-lower",
    ]
    assert corpus.kind([trees, text], "treebank") == "treebank"


_TAGGED = "The/DT kites/NNS rise/VBP ./.\nWe/PRP left/VBD ./.\n"
ANNOTATED = {
    "columns, as in TSV": "# text = Kites rise.\n1\tKites\tkite\tNOUN\n2\trise\trise\tVERB\n3\t.\t.\tPUNCT\n\n",
    "columns": "Kites rise.\tgood\nKites rises.\tbad\n",
    "trees": "(S (NP (NNS Kites)) (VP (VBP rise)))\n(S (NP (PRP We)) (VP (VBD left)))\n",
    "JSON": '{"text": "Kites rise."}\n{"text": "We left."}\n',
    "JSON ": '[\n  "Kites rise.",\n  "We left."\n]\n',
    "markup": "<s> Kites rise . </s>\n<s> We left . </s>\n",
    "markup ": '<?xml version="1.0"?>\n<doc>\n<s>Kites rise.</s>\n</doc>\n',
    "words with tags": _TAGGED,
    "columns  ": "Kites NNS B-NP O\nrise VBP B-VP O\n. . O O\n\nWe PRP B-NP O\n",
    "columns   ": "Kites NNS\nrise VBP\n. .\n\nWe PRP\n",
    "columns ": "1 Kites kite NOUN _ _ 2 nsubj _ _\n2 rise rise VERB _ _ 0 root _ _\n",
    "trees ": "(3 (2 Kites) (3 (2 rise) (2 .)))\n",
    "trees  ": "( (S\n    (NP (NNS Kites))\n    (VP (VBP rise))\n    (. .)))\n",
    "JSON  ": "{'text': 'Kites rise.'}\n{'text': 'We left.'}\n",
    "subtitles": "WEBVTT\n\n00:01.000 --> 00:02.500\nKites rise.\n",
    "subtitles ": "1\n00:00:01,000 --> 00:00:02,500\nKites rise.\n\n",
    "a word in each line": "Kites\nrise\n.\n\nWe\nleft\n.\n\n" * 5,
    "CSV": "id,text\n1,Kites rise.\n2,We left.\n",
    "CSV ": '"","word","RT (ms)"\n"1","Kites",310\n"2","rise",320\n',
}
PLAIN = (
    "Kites rise.\nWe left.\n",
    "The (high) kites rise (S. 3).\n[1] We left, they left, all left.\n",
    "Yes, we left.\nNo, they rose.\nSo, it fell.\n",
    "# Kites\n\nKites rise . He said `` no '' .\n",
    "他爱自己。\n自己爱他。\n" * 20,
    "kite\nkites\nrise\n" * 20,
    "KITES RISE\nWE LEFT\n",
    "He/she rose and/or fell.\nWe left.\n",
    "A\tB\n",
    "Kites fly (Hill 1967), and rise (see Hall).\n",
    "<unk> rose.\n",
    "Kites rise .\nRise .\nYes ,\nWe left .\nNo .\n",
    "Say NO\n",
    "Chapter II\nChapter III\n",
    '"Kites": they rise.\n',
    "我来了,他走了\n天黑了,她哭了\n雨停了,花开了\n",
    "他走了。\n＊\n" * 20,
    "kite\nrises\n*\n" * 20,
)


@pytest.mark.parametrize("found", ANNOTATED)
def test_annotated_files_are_no_text(found: str, tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_text(ANNOTATED[found])
    for read in (
        lambda: list(corpus.texts([path])),
        lambda: sg.score_text(sg.load_model("toy"), path),
        lambda: baselines.counted(path),
    ):
        with pytest.raises(InputError, match=f"text.txt: {found.strip()}.*expected plain text"):
            read()


@pytest.mark.parametrize("content", PLAIN)
def test_plain_text_is_read_as_it_is(content: str, tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_text(content)
    assert list(corpus.texts([path])) == [line.strip() for line in content.splitlines() if line]


def test_training_on_annotated_text_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.conllu").write_text(ANNOTATED["columns, as in TSV"])
    assert main(["train", "ngram", "--corpus", str(tmp_path / "a.conllu"), "-o", str(tmp_path / "model")]) == 2
    assert "a.conllu: columns, as in TSV or CoNLL-U (sed" in capsys.readouterr().err
    assert not (tmp_path / "model").exists()
