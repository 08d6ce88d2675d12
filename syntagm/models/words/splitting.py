"""Tokenisation into words with positions: at white space, or by the rules of the Penn Treebank, of Moses or TreeTagger.

Treebank words are exactly those of NLTK's TreebankWordTokenizer. NLTK applies twenty regular expressions to each line.
Their effect on a piece between two spaces depends only on the piece and on whether it is the first or last of its line.
So each distinct piece is tokenised once.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import zip_longest

import numpy as np
from numpy.typing import NDArray

from syntagm.core import ModelError, UsageError
from syntagm.models.answers import Gap

# Moses: the rules are those of `tokenizer.perl -l en -no-escape`, with letters and digits as Python defines them. A
# final full stop is separated from the last word of a text, too, unless that is an abbreviation (as in versions before
# 2017).
#
# WikiText is split in this way with `-a` (hyphens between letters are words), and the commas and points in numbers are
# words. These are written between @: `3 @,@ 000`.

# Abbreviations after which a full stop is not separated; those of the second set, only before a digit.
ABBREVIATIONS = frozenset(
    """
    Adj Adm Adv Asst Bart Bldg Brig Bros Capt Cmdr Col Comdr Con Corp Cpl DR Dr Drs Ens Gen Gov Hon Hosp Hr Insp Lt MM MR
    MRS MS Maj Messrs Mlle Mme Mr Mrs Ms Msgr Nos Nr Op Ord Pfc Ph Prof Pvt Rep Reps Res Rev Rs Rt Sen Sens Sfc Sgt Sr St
    Supt Surg Jan Feb Mar Apr Jun Jul Aug Sep Oct Nov Dec e.g i.e rev v vs
    """.split()  # noqa: SIM905, shorter than a list
) | frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_BEFORE_DIGITS = frozenset(["No", "Art", "pp"])

# Perl doesn't count superscripts and fractions as digits, Python does.
_SPECIAL = re.compile(r"([^\w\s.'`,\-]|[_²³¹¼-¾⁰-₉⅐-⅟])")
_HYPHEN = re.compile(r"([^\W_])-(?=[^\W_])")
_DOTS = re.compile(r"(\.{2,})")
_COMMAS = ((re.compile(r"(\D),"), r"\1 , "), (re.compile(r",(\D)"), r" , \1"))
_NUMBER = re.compile(r"(?<=\d)([,.])(?=\d)")
_LETTER = r"[^\W\d_]"
_NO_LETTER = r"[\W\d_]"
# In the order of the original. The neighbours of a match are consumed: of two apostrophes around a letter, only the first
# is separated.
_APOSTROPHES = tuple(
    (re.compile(f"({left})'({right})"), replacement)
    for left, right, replacement in (
        (_NO_LETTER, _NO_LETTER, r"\1 ' \2"),
        (r"[\W_]", _LETTER, r"\1 ' \2"),
        (_LETTER, _NO_LETTER, r"\1 ' \2"),
        (_LETTER, _LETTER, r"\1 '\2"),
        (r"\d", "s", r"\1 '\2"),
    )
)


def split_moses(text: str) -> list[str]:
    """Split a text into words.

    >>> split_moses("Dr. Smith's 3,000 sheep-dogs can't (e.g.) wait...")
    ['Dr.', 'Smith', "'s", '3,000', 'sheep-dogs', 'can', "'t", '(', 'e.g.', ')', 'wait', '...']
    """
    return _moses_words(text, hyphens=False)


def split_wikitext(text: str) -> list[str]:
    """Split a text into words in the form of WikiText.

    >>> split_wikitext("3,000 sheep-dogs")
    ['3', '@,@', '000', 'sheep', '@-@', 'dogs']
    """
    return [part for word in _moses_words(text, hyphens=True) for part in _NUMBER.sub(r" @\1@ ", word).split()]


def _moses_words(text: str, hyphens: bool) -> list[str]:
    spaced = _SPECIAL.sub(r" \1 ", f" {text} ")
    if hyphens:
        spaced = _HYPHEN.sub(r"\1 @-@ ", spaced)
    spaced = _DOTS.sub(r" \1 ", spaced)
    for pattern, replacement in (*_COMMAS, *_APOSTROPHES):
        spaced = pattern.sub(replacement, spaced)
    pieces = spaced.split()
    words = []
    for piece, following in zip_longest(pieces, pieces[1:], fillvalue=""):
        stem = piece[:-1]
        if piece[-1] != "." or not stem.strip(".") or _is_abbreviation(stem, following):
            words.append(piece)
        else:
            words += [stem, "."]
    if len(words) > 1 and words[-1] == "'" and words[-2][-1] == "." and words[-2].strip("."):
        words[-2:] = [words[-2][:-1], ".", "'"]
    return words


def _is_abbreviation(stem: str, following: str) -> bool:
    if "." in stem and any(map(str.isalpha, stem)):
        return True
    before_digit = stem in _BEFORE_DIGITS and following[:1].isdecimal()
    return stem in ABBREVIATIONS or following[:1].islower() or before_digit


# TreeTagger: its list of abbreviations is not free. That of Moses takes its place here, so some abbreviations are split
# differently. Tags such as <unk> are words.

_OPENING = "¿¡{'`\"‚„†‡‹‘’“”•–—›["
_CLOSING = "]}'`\",;:!?%‚„…†‡‰‹‘’“”•–—›"
_TAG = re.compile(r"(<[^<>\s]*>)")
_ELLIPSIS = re.compile(r"(\.\.\.)")
_MARK = re.compile(r"([;!?])(\S)")
_INITIALS = re.compile(r"([A-Za-z-]\.)+")
_CLITIC = re.compile(r"(?<=.)(['’´](?:s|re|ve|d|m|em|ll)|n['’´]t)$", re.DOTALL)


def split_treetagger(text: str) -> list[str]:
    """Split a text into words.

    >>> # doctest: +NORMALIZE_WHITESPACE
    ... split_treetagger('Mr. Smith\\'s dogs (all 30) "can\\'t" bark, e.g. at 3:15 p.m.; U.S. cats...')
    ['Mr.', 'Smith', "'s", 'dogs', '(', 'all', '30', ')', '"', 'ca', "n't", '"', 'bark', ',', 'e.g.', 'at', '3:15',
     'p.m.', ';', 'U.S.', 'cats', '...']
    """
    words: list[str] = []
    for number, part in enumerate(_TAG.split(text)):
        if number % 2:
            words.append(part)
        else:
            for piece in _MARK.sub(r"\1 \2", _ELLIPSIS.sub(r" \1 ", part)).split():
                words += _treetagger_words(piece)
    return words


def _treetagger_words(piece: str) -> list[str]:
    before, piece, after = _cut(piece)
    if not (piece.removesuffix(".") in ABBREVIATIONS or _INITIALS.fullmatch(piece)):
        if len(piece) > 1 and piece[-1] == "." and piece != "...":
            piece, after = piece[:-1], [".", *after]
        while piece.startswith("--") and len(piece) > 2:
            before, piece = [*before, "--"], piece[2:]
        while piece.endswith("--") and len(piece) > 2:
            piece, after = piece[:-2], ["--", *after]
        while clitic := _CLITIC.search(piece):
            piece, after = piece[: clitic.start()], [clitic[0], *after]
    return [*before, piece, *after]


def _cut(piece: str) -> tuple[list[str], str, list[str]]:
    """Cut off punctuation marks before and after a word; at least one character remains."""
    before: list[str] = []
    after: list[str] = []
    while len(piece) > 1:
        # A bracket stays where its partner is in the same piece, as in `house(s)`.
        if (piece[0] == "(" and ")" not in piece[:-1]) or piece[0] in _OPENING:
            before, piece = [*before, piece[0]], piece[1:]
        elif (piece[-1] == ")" and "(" not in piece) or piece[-1] in _CLOSING:
            piece, after = piece[:-1], [piece[-1], *after]
        elif piece[-1] == "." and piece[-2] in _CLOSING:
            piece, after = piece[:-1], [".", *after]
        else:
            break
    return before, piece, after


_SPLITTERS = {"moses": split_moses, "treetagger": split_treetagger, "wikitext": split_wikitext}
_LOWER = "-lower"
KINDS = ("auto", "blanks", "treebank", *_SPLITTERS, *(f"{kind}{_LOWER}" for kind in ("blanks", "treebank", "moses")))
_PIECES = 2**17
# Words made of letters only that NLTK splits.
_CONTRACTIONS = frozenset(["cannot", "gimme", "gonna", "gotta", "lemme", "wanna"])
_QUOTES = ("``", "''")
# WikiText's marks inside words and numbers.
_INSIDE = ("@-@", "@,@", "@.@")
_BETWEEN_SPACES = re.compile(r"\S+")
_LAST = (" .", " ?", " !", " ''")
_ALONE = re.compile(r"(?:^|\s)(?:[.,;:?!()]|``|''|--)(?=\s|$)")


def words(text: str, tokens: str = "blanks") -> tuple[list[str], NDArray[np.int32]]:
    """Split a text into words, and find where each starts. White space belongs to the word after it.

    Arguments:
        text: one line.
        tokens: `blanks`: split at white space; `treebank`: as NLTK's TreebankWordTokenizer, with `` and '' for quotes;
            `auto`: as `blanks` if the text is already tokenised (it contains a separate punctuation mark), else as
            `treebank`; `moses`, `treetagger`, `wikitext`: see the functions `split_...`; with `-lower`: in lower case.

    Returns:
        The words, and the index of the first character of each: shape (words,), int32, beginning with 0.

    Raises:
        UsageError: `tokens` has any other value.

    >>> split_words, starts = words('He  said "yes".', "treebank")
    >>> split_words, starts.tolist()
    (['He', 'said', '``', 'yes', "''", '.'], [0, 2, 8, 10, 13, 14])
    """
    split_words = split(text, tokens)
    return split_words, placed(text, split_words)


def unsplit(tokens: str) -> str:
    """Return how texts whose words are known are split, instead of as `tokens`: at white space, in lower case if that is.

    >>> unsplit("treebank"), unsplit("moses-lower")
    ('blanks', 'blanks-lower')
    """
    return "blanks-lower" if tokens.endswith(_LOWER) else "blanks"


def placed(text: str, split_words: Sequence[str]) -> NDArray[np.int32]:
    """Return the start of each word in a text, given the words that `split` returns; see `words`."""
    starts = np.zeros(len(split_words), np.int32)
    end = 0
    for index, word in enumerate(split_words):
        starts[index] = end if index else 0
        end = _end(text, word, end)
    return starts


def split(text: str, tokens: str = "blanks") -> list[str]:
    """Split a text into words; the arguments and errors are the same as for `words`.

    >>> split("They can't, she cannot.", "treebank")
    ['They', 'ca', "n't", ',', 'she', 'can', 'not', '.']
    """
    if tokens == "blanks" or (tokens == "auto" and is_split(text)):
        return text.split()
    if tokens not in KINDS:
        raise UsageError("tokens", repr(tokens), "one of " + ", ".join(KINDS))
    if tokens.endswith(_LOWER):
        return [word.lower() for word in split(text, tokens.removesuffix(_LOWER))]
    if tokens in _SPLITTERS:
        return _SPLITTERS[tokens](text)
    pieces = text.split()
    if " ".join(pieces) != text or len(pieces) < 2:
        # NLTK's rules treat white space other than single spaces in special ways.
        return _nltk()(text)
    split_words = [*_first(pieces[0])]
    for piece in pieces[1:-1]:
        split_words += _inner(piece)
    split_words += _last(pieces[-1])
    return split_words


def between_blanks(text: str, starts: NDArray[np.int32]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the word that each token belongs to, and the end of each word; words are delimited by white space.

    White space belongs to the word after it. A token that starts after the last word gets the index after the last.

    >>> word_indices, ends = between_blanks("can't  go", np.array([0, 2, 5, 9], np.int32))
    >>> word_indices.tolist(), ends.tolist()
    ([0, 0, 1, 2], [5, 9])
    """
    ends = np.array([match.end() for match in _BETWEEN_SPACES.finditer(text)], np.intp)
    return np.searchsorted(ends, starts, "right"), ends


def leaf(word: str) -> str:
    """Return a word as written in a bracketed tree, where brackets would be read as those of the tree.

    >>> leaf("("), leaf("a)")
    ('-LRB-', 'a-RRB-')
    """
    return word.replace("(", "-LRB-").replace(")", "-RRB-")


def is_split(text: str) -> bool:
    """Return whether a text is already tokenised, that is, contains a separate punctuation mark.

    >>> is_split("It barks ."), is_split("It barks.")
    (True, False)
    """
    # The last mark nearly always decides, and looking at the end is ten times as fast as a search.
    return text.endswith(_LAST) or _ALONE.search(text) is not None


@cache
def _nltk() -> Callable[[str], list[str]]:
    # This import takes half a second: NLTK imports SciPy.
    from nltk.tokenize.treebank import TreebankWordTokenizer

    tokenize: Callable[[str], list[str]] = TreebankWordTokenizer().tokenize
    return tokenize


@lru_cache(_PIECES)
def _inner(piece: str) -> tuple[str, ...]:
    return _split_simple(piece, ",;:?!") or tuple(_nltk()(f"x {piece} x")[1:-1])


@lru_cache(_PIECES)
def _first(piece: str) -> tuple[str, ...]:
    return _split_simple(piece, ",;:?!") or tuple(_nltk()(f"{piece} x")[:-1])


@lru_cache(_PIECES)
def _last(piece: str) -> tuple[str, ...]:
    return _split_simple(piece, ",;:?!.") or tuple(_nltk()(f"x {piece}")[1:])


def _split_simple(piece: str, marks: str) -> tuple[str, ...] | None:
    """Split a piece of English letters, optionally followed by one of `marks`; return None if the piece needs NLTK."""
    letters = piece[:-1] if piece[-1] in marks else piece
    if not (letters.isascii() and letters.isalpha()) or letters.lower() in _CONTRACTIONS:
        return None
    return (letters,) if letters is piece else (letters, piece[-1])


def _end(text: str, word: str, at: int) -> int:
    """Return the end of a word in a text. The word starts at `at`, or after white space there."""
    while text[at].isspace():
        at += 1
    if text.startswith(word, at):
        return at + len(word)
    # NLTK replaces `"` and two single quotes by its own quotation marks.
    if word in _QUOTES and text[at] == '"':
        return at + 1
    if word == "``" and text.startswith("''", at):
        return at + 2
    if word in _INSIDE and text[at] == word[1]:
        return at + 1
    # The word is in lower case, which may be longer.
    end = at + 1
    while end < len(text) and len(text[at:end].lower()) < len(word):
        end += 1
    if text[at:end].lower() == word:
        return end
    raise AssertionError(f"{word!r} is not at {at} of {text!r}")


# A placeholder for any other word, so that the text before or after it is split as inside a sentence.
_OTHER = "x"


@dataclass(frozen=True, slots=True)
class Divided:
    """A gap split into words."""

    before: tuple[str, ...]  # the words before the gap
    candidates: tuple[tuple[str, ...], ...]  # the words of each candidate, at least one


def divide(gap: Gap, tokens: str, model: str) -> Divided:
    """Split a gap and its candidates into words.

    It is an error if a candidate does not consist of whole words in the sentence, or has white space around it.

    >>> divide(Gap("She can't ", ".", ("swim", "cannot swim")), "treebank", "any")
    Divided(before=('She', 'ca', "n't"), candidates=(('swim',), ('can', 'not', 'swim')))
    """
    # The text after the gap matters here only: the whole text shows whether it is already tokenised.
    if tokens == "auto":
        tokens = "blanks" if is_split(gap.left + _OTHER + gap.right) else "treebank"
    before = split(gap.left + _OTHER, tokens)
    if before[-1] != _OTHER:
        _refuse(model, gap.left, (gap.words or ("",))[0])
    # After an opening quotation mark or bracket there may be no white space.
    touches = gap.left[-1:].strip()
    start = gap.left.rsplit(maxsplit=1)[-1] if touches else ""
    return Divided(tuple(before[:-1]), _candidates(start, not gap.left, gap.words, tokens, model))


@lru_cache(16)
def _candidates(
    start: str, first: bool, candidates: tuple[str, ...], tokens: str, model: str
) -> tuple[tuple[str, ...], ...]:
    lead = "" if first else f"{_OTHER} {start}"
    head, candidate_words = split(lead + _OTHER, tokens)[:-1], []
    for word in candidates:
        if not word or word != word.strip():
            raise ModelError(
                model, f"the candidate {word!r}", "a word without white space around it",
                "White space around a gap belongs to the text before and after it.",
            )  # fmt: skip
        divided = split(f"{lead}{word} {_OTHER}", tokens)
        if divided[: len(head)] != head or divided[-1] != _OTHER or len(divided) < len(head) + 2:
            _refuse(model, start, word)
        candidate_words.append(tuple(divided[len(head) : -1]))
    return tuple(candidate_words)


def _refuse(model: str, left: str, word: str) -> None:
    raise ModelError(
        model, f"{word!r} is no separate word in {left + word!r}", "whole words in a gap",
        "Put a space at the end of the text before the gap.",
    )  # fmt: skip


def single(words: Sequence[str], tokens: str, model: str) -> NDArray[np.bool_]:
    divided = divide(Gap("a ", "", tuple(words)), tokens, model)
    return np.array([len(candidate) == 1 for candidate in divided.candidates], bool)
