"""ARPA files: written, read back, from other programs, and hostile."""

import gzip
from pathlib import Path

import numpy as np
import pytest
from ngrams_for_tests import TOY, trained

from syntagm.core import ModelError, RunError
from syntagm.models import Ngrams, arpa
from syntagm.models.ngram.arpa import read
from syntagm.models.ngram.model import load

# SRILM prunes bigrams that trigrams end in: `b c` is not listed, `a b c` is. The columns are blanks apart here and there.
PRUNED = """\

\\data\\
ngram 1=5
ngram 2=2
ngram 3=1

\\1-grams:
-0.5\t</s>
-99\t<s>\t-0.25
-0.6\ta\t-0.125
-0.7\tb\t-0.5
-0.8\tc

\\2-grams:
-0.1\t<s> a\t-0.0625
-0.2\ta b\t-0.03125

\\3-grams:
-0.05\ta b c

\\end\\
"""


def same(one: Ngrams, two: Ngrams) -> bool:
    arrays = [(*ngrams.firsts, *ngrams.suffixes, *ngrams.probabilities, *ngrams.backoffs) for ngrams in (one, two)]
    return one.words == two.words and all(np.array_equal(a, b) for a, b in zip(*arrays, strict=True))


@pytest.mark.parametrize("name", ["a.arpa", "a.arpa.gz"])
@pytest.mark.parametrize("order", [1, 2, 5])
def test_round_trip(tmp_path: Path, name: str, order: int) -> None:
    ngrams = trained(tmp_path, order=order, discount_fallback=True).ngrams
    arpa.write(ngrams, tmp_path / name)
    assert same(read(tmp_path / name), ngrams)
    content = (tmp_path / name).read_bytes()
    arpa.write(ngrams, tmp_path / name)
    assert (tmp_path / name).read_bytes() == content
    text = (gzip.decompress(content) if name.endswith("gz") else content).decode()
    assert text.startswith("\\data\\\nngram 1=25\n")
    assert text.endswith("\n\n\\end\\\n")
    # The shortest decimals that give back 32 bits; without a back-off weight at the highest order.
    assert ("\nngram 2=58\n" in text) == (order > 1)
    assert all(line.count("\t") == 1 for line in text.split("-grams:\n")[-1].splitlines() if line.startswith("-"))


def test_ends_that_are_not_listed_are_backed_off_to(tmp_path: Path) -> None:
    (path := tmp_path / "pruned.arpa").write_text(PRUNED)
    ngrams = read(path)
    assert ngrams.words == ("</s>", "<unk>", "a", "b", "c", "<s>")
    text = np.array([5, 2, 3, 4, 3, 4, 0], np.int32)  # <s> a b c b c </s>
    # a: -0.1. b: `a b`, and the back-off of `<s> a`. c: `a b c`. b: nothing ends in `c b`, and c has no back-off. c: the
    # unigram and the back-off of b, which is what `b c` gets. </s>: the unigram; `b c` has no back-off.
    expected = [-0.1, -0.2 - 0.0625, -0.05, -0.7, -0.8 - 0.5, -0.5]
    assert ngrams.logs(text)[1:] == pytest.approx(expected, abs=1e-6)
    assert [len(values) for values in ngrams.probabilities] == [6, 3, 1]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # Remarks before the counts; counts in columns, as IRSTLM writes them; line ends of Windows; no blank lines.
        ("\n\\data", "# made by hand\n\n####\n\\data"),
        ("ngram 1=5\nngram 2=2", "ngram  1=         5\nngram  2=         2"),
        ("\n", "\r\n"),
        ("\n\n", "\n"),
    ],
)
def test_ways_to_write_the_same(tmp_path: Path, old: str, new: str) -> None:
    assert old in PRUNED
    (plain := tmp_path / "plain.arpa").write_text(PRUNED)
    (other := tmp_path / "other.arpa").write_bytes(PRUNED.replace(old, new).encode())
    assert same(read(other), read(plain))


def test_a_discount_of_0_leaves_a_weight_of_minus_infinity(tmp_path: Path) -> None:
    # Words once, twice, and three times twice: 2, 2 and 4 bigrams with such counts, Y = 2 / (2 + 2 * 2) = 1/3 and
    # D2 = 2 - 3 * 1/3 * 4/2 = 0. So nothing but the end comes after b, and lmplz, too, writes -inf.
    model = trained(tmp_path, "a\nb\nb\nc\nc\nc\nd\nd\nd\n", 2, discount_fallback=True)
    assert model.ngrams.backoffs[0][model.ngrams.words.index("b")] == -np.inf
    arpa.write(model.ngrams, tmp_path / "a.arpa")
    assert "\tb\t-inf\n" in (tmp_path / "a.arpa").read_text()
    assert same(read(tmp_path / "a.arpa"), model.ngrams)
    for again in (model, load(str(tmp_path / "a.arpa"), eos="yes")):
        assert [answer.bits[-1] for answer in again.score(["b"])] == [0]
        with pytest.raises(ModelError, match="'c' of 'b c' has probability 0"):
            list(again.score(["b c"]))


def test_a_file_without_the_unknown_word(tmp_path: Path) -> None:
    (path := tmp_path / "pruned.arpa").write_text(PRUNED)
    model = load(str(path))
    assert len(list(model.score(["a b c", ""]))) == 2
    with pytest.raises(ModelError, match="'zebra' of 'b zebra' has probability 0"):
        list(model.score(["a b", "b zebra"]))


@pytest.mark.parametrize(
    ("old", "new", "line", "found"),
    [
        ("\\data\\\n", "", 2, "ngram 1=5"),
        ("ngram 2=2", "ngram 3=2", 4, "ngram 3=2"),
        ("ngram 2=2", "ngram 2=3", 17, "''"),
        ("ngram 2=2", "ngram 2=1", 16, "a b"),
        ("ngram 3=1", "ngram 3=999999999999", 20, "''"),
        ("ngram 1=5\nngram 2=2\nngram 3=1\n", "", 4, "1-grams"),
        ("-0.6\ta", "0.6\ta", 10, "0.6"),
        ("-0.6\ta", "nan\ta", 10, "nan"),
        ("-0.6\ta", "-0,6\ta", 10, "-0,6"),
        ("-0.6\ta", "-0.6 a", 10, "-0.6 a"),
        ("-0.6\ta\t-0.125", "-0.6\ta\tinf", 10, "inf"),
        ("-0.6\ta\t-0.125", "-0.6\ta\tnan", 10, "nan"),
        ("\\data\\\n", "data\n", 2, "begin with #"),
        ("-0.6\ta\t-0.125", "-0.6\ta\t-0.125\t1", 10, "-0.125"),
        ("-0.6\ta\t", "-0.6\ta z\t", 10, "a z"),
        ("-0.2\ta b", "-0.2\ta z", 16, "a z"),
        ("-0.2\ta b", "-0.2\ta b c", 16, "a b c"),
        ("-0.2\ta b", "-0.2\tb", 16, "b"),
        ("-0.2\ta b", "-0.2\ta  b", 16, "a  b"),
        ("-0.05\ta b c", "-0.05\ta b c\t-0.1", 19, "a b c"),
        ("\\2-grams:", "\\3-grams:", 14, "3-grams"),
        ("\n\\end\\\n", "", 19, "the end of the file"),
        ("\\end\\\n", "\\end\\\n\n1\n", 23, "nothing after"),
        ("-0.7\tb", "-0.7\ta", 12, "'a' twice"),
        ("-0.7\tb", "-0.7\t" + "b" * 70_000, 11, "65,536"),
    ],
)
def test_hostile_files_are_refused_with_the_line(tmp_path: Path, old: str, new: str, line: int, found: str) -> None:
    assert old in PRUNED
    (path := tmp_path / "bad.arpa").write_text(PRUNED.replace(old, new, 1))
    with pytest.raises(ModelError) as caught:
        read(path)
    assert f"line {line}:" in str(caught.value)
    assert found in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("-0.2\ta b", "-0.2\t<s> a", "'<s> a' twice"),
        ("-0.2\ta b", "-0.2\ta <s>", "<s> inside an n-gram"),
        ("</s>", "x", "no </s> among the 1-grams"),
    ],
)
def test_what_only_the_whole_shows(tmp_path: Path, old: str, new: str, found: str) -> None:
    (path := tmp_path / "bad.arpa").write_text(PRUNED.replace(old, new, 1))
    with pytest.raises(ModelError, match=r"bad\.arpa") as caught:
        read(path)
    assert found in str(caught.value)


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    (path := tmp_path / "bad.arpa").write_bytes(PRUNED.encode().replace(b"\ta b\t", b"\ta \xff\t"))
    with pytest.raises(ModelError, match="line 16: bytes that are not UTF-8"):
        read(path)
    (path := tmp_path / "cut.arpa.gz").write_bytes(gzip.compress(PRUNED.encode())[:-6])
    with pytest.raises(ModelError, match="line 21: damaged gzip data"):
        read(path)
    with pytest.raises(ModelError, match="can't be read"):
        read(tmp_path / "none.arpa")


def test_a_file_cut_anywhere_is_refused(tmp_path: Path) -> None:
    ends = [end for end, sign in enumerate(PRUNED.rstrip()) if sign in "\n\t"]
    for end in (*ends, *(end + 1 for end in ends)):
        (path := tmp_path / "bad.arpa").write_text(PRUNED[:end])
        with pytest.raises(ModelError):
            read(path)


def test_a_word_that_the_format_can_not_hold(tmp_path: Path) -> None:
    ngrams = trained(tmp_path, TOY, 2).ngrams
    odd = Ngrams(
        ("</s>", "<unk>", "a b", *ngrams.words[3:]),
        ngrams.firsts,
        ngrams.suffixes,
        ngrams.probabilities,
        ngrams.backoffs,
    )
    with pytest.raises(ModelError, match="'a b'"):
        arpa.write(odd, tmp_path / "x.arpa")
    with pytest.raises(RunError):
        arpa.write(ngrams, Path("/dev/full"))
