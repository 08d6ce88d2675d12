"""Words and where they start: at white space, and as NLTK's Treebank tokenizer divides."""

import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given, settings, strategies as st
from nltk.tokenize.treebank import TreebankWordTokenizer

from syntagm.core import UsageError
from syntagm.models import splitting
from syntagm.training import corpus

NLTK = TreebankWordTokenizer()
# What NLTK's rules look at, and what a careless reader of its spans stumbles over.
ODD = [*"\"'`.,:;?!@#$%&()[]{}<>-", "''", "``", "...", "--", "n't", "'s", "'tis", "d'ye", "more'n", "\u00a0", "\u3000"]
ODD += ["\x1c", "\x85", "\t", "\u200b", "e\u0301", "\u017f", "\u0130", "\u0663", "\U0001f468\u200d\U0001f469", "\ufeff"]
PIECE = st.sampled_from([*ODD, "cannot", "Cannot", "gonna", "wanna", "lemme", "Dr", "x", "dog", "3", "é", " ", " "])
LINE = st.one_of(
    st.lists(PIECE, max_size=14).map("".join), st.lists(PIECE, max_size=9).map(" ".join), st.text(max_size=20)
)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("The author next to the senators hurt herself.", "The author next to the senators hurt herself ."),
        (
            'No senator who the guards like has ever said "yes", Dr. Smith said.',
            "No senator who the guards like has ever said `` yes '' , Dr. Smith said .",
        ),
        (
            "I can't, won't and cannot go; it's John's (not mine)...",
            "I ca n't , wo n't and can not go ; it 's John 's ( not mine ) ...",
        ),
        ("He paid $3,000.50 -- 20% of it.", "He paid $ 3,000.50 -- 20 % of it ."),
        ('"Hello," she said.', "`` Hello , '' she said ."),
        ("the '80s rock 'n' roll gonna be e.g. fine", "the '80s rock 'n ' roll gon na be e.g. fine"),
        ("", ""),
        ("Yes.", "Yes ."),
    ],
)
def test_treebank_words_as_published(line: str, expected: str) -> None:
    assert splitting.split(line, "treebank") == expected.split()


@pytest.mark.slow
@settings(max_examples=1000)
@given(LINE)
@example("'' ''x '' ''")
@example('""a "" "')
@example(' "a"')
@example("x.' '")
@example("a: : :")
@example("wanna wanna")
@example("'tis 'tis 'Twas")
def test_pieces_are_divided_as_nltk_divides_the_line(line: str) -> None:
    assert splitting.split(line, "treebank") == NLTK.tokenize(line)


@pytest.mark.slow
@settings(max_examples=500)
@given(LINE, st.sampled_from(splitting.KINDS))
@example("''a'' \"b\" ``c``", "treebank")
def test_the_words_partition_the_text(line: str, tokens: str) -> None:
    found, starts = splitting.words(line, tokens)
    assert found == splitting.split(line, tokens)
    assert len(found) == len(starts)
    if not line.strip():
        assert found == []
        return
    assert starts[0] == 0
    bounds = [*starts.tolist(), len(line)]
    for word, (left, right) in zip(found, pairwise(bounds), strict=True):
        assert left < right
        # White space stands before its word only, but for what ends the text.
        own = line[left:right].strip()
        own = own.lower() if tokens.endswith("-lower") else own
        assert own == word or (own in ('"', "''") and word in ("``", "''")) or f"@{own}@" == word
        assert right == len(line) or not line[right - 1].isspace()


def test_starts_by_hand() -> None:
    # 0123456789012345678
    # ' He  said "can't".'
    found, starts = splitting.words(' He  said "can\'t". ', "treebank")
    assert found == [
        "He",
        "said",
        "``",
        "ca",
        "n't",
        "''",
        ".",
    ]
    assert starts.tolist() == [0, 3, 9, 11, 13, 16, 17]
    assert splitting.words("\u3000a b\t", "blanks")[1].tolist() == [0, 2]
    assert starts.dtype == "int32"


def test_other_kinds_are_refused() -> None:
    for kind in ("penn", "penn-lower", "-lower", "auto-lower"):
        with pytest.raises(UsageError, match=rf"'{kind}'; expected one of auto, blanks, treebank, moses,"):
            splitting.split("a", kind)
    with pytest.raises(UsageError, match=r"'penn-lower'; expected one of auto"):
        splitting.words("a", "penn-lower")


# What the programs gave for these lines; the tokens of Moses without escapes.
PUBLISHED = [
    (
        "moses",
        "Mr. Smith's 3,000 sheep-dogs (of Nov. 1999) can't wait, e.g. in the U.S. for \"No. 5\"...",
        "Mr. Smith 's 3,000 sheep-dogs ( of Nov. 1999 ) can 't wait , e.g. in the U.S. for \" No. 5 \" ...",
    ),
    ("moses", "The dogs' owner said: 'It's 5,5% or more.'", "The dogs ' owner said : ' It 's 5,5 % or more . '"),
    ("moses", "Rock'n'roll,,5 etc. he left. She stayed.", "Rock 'n'roll , ,5 etc. he left . She stayed ."),
    (
        "wikitext",
        "The 1,200 well-known A-lists cost $3.50.",
        "The 1 @,@ 200 well @-@ known A @-@ lists cost $ 3 @.@ 50 .",
    ),
    (
        "treetagger",
        "Mr. Smith's dogs (all 30) \"can't\" bark at house(s), U.S.A. or 3:15 p.m.--they'll say so; it's off...",
        "Mr. Smith 's dogs ( all 30 ) \" ca n't \" bark at house(s) , U.S.A. or 3:15 p.m.--they 'll say so ; it 's off ...",
    ),
    ("treetagger", "--No!?yes ''so'' 5% <unk>, he said.", "-- No ! ?yes ' ' so ' ' 5 % <unk> , he said ."),
    ("treebank-lower", "The DOGS can't bark.", "the dogs ca n't bark ."),
    ("blanks-lower", "The DOGS can't bark.", "the dogs can't bark."),
]


@pytest.mark.parametrize(("kind", "line", "expected"), PUBLISHED)
def test_words_of_moses_wikitext_and_treetagger(kind: str, line: str, expected: str) -> None:
    assert splitting.split(line, kind) == expected.split()


def test_lower_case_of_another_length_moves_no_start() -> None:
    # The lower case of this capital has two characters.
    found, starts = splitting.words("\u0130x \u0130 a", "blanks-lower")
    assert found == ["i\u0307x", "i\u0307", "a"]
    assert starts.tolist() == [0, 2, 4]


@pytest.mark.slow
def test_real_text_is_divided_as_nltk_divides_it(shared: Path) -> None:
    texts = [*corpus.texts([shared / "data/corpora/classics.test.txt"])]
    assert len(texts) > 1000
    assert [splitting.split(text, "treebank") for text in texts] == [NLTK.tokenize(text) for text in texts]


@pytest.mark.slow
def test_nltk_is_imported_late() -> None:
    code = (
        "import sys; from syntagm.models import splitting; splitting.words('a b'); assert 'nltk' not in sys.modules;"
        "splitting.words('a b.', 'treebank'); assert 'nltk' not in sys.modules; splitting.words('a? \"b', 'treebank');"
        "assert 'nltk' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_text_that_is_split_already_is_taken_as_it_stands() -> None:
    assert splitting.split("I can't , he said .", "auto") == ["I", "can't", ",", "he", "said", "."]
    assert splitting.split("I can't, he said.", "auto") == ["I", "ca", "n't", ",", "he", "said", "."]
    assert splitting.split("The company's trains", "auto") == ["The", "company", "'s", "trains"]
