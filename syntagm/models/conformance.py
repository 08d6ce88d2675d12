"""The promises of the interface of language models, as checks that any model can be put to.

`syntagm conform` and the tests of this package run the same checks. Each check gives its failures in words.
"""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from syntagm.core import SyntagmError
from syntagm.models import families, possible
from syntagm.models.answers import Gap, Surprisals
from syntagm.models.contract import QUERIES, LanguageModel
from syntagm.models.possible import fault_in_tokens

TEXTS = (
    "The dog near the cats barks",
    "The dog near the cats bark",
    "the dog near the cat barks",
    "No dog ever barks .",
    "What did she say that the teachers had read in the library?",
    "The naïve café owner paid 12 euros for a crème brûlée.",
    "Porto",
    "  two  blanks,\tone tab\nand a line ",
    "☃ 雪人 קרח \U0001f468‍\U0001f469‍\U0001f467 é",
)
GAPS = (
    Gap("The old ", " watered the roses.", ("gardener", "boats", "the", "unheard-of")),
    Gap("The ", " near the gate", ("gardener", "boats")),
)
# The largest difference, in bits per text, between two computations of one number: 1e-4 nats.
CLOSE = 1e-4 / math.log(2)
# The largest difference from 1 of a sum of probabilities.
_SUM = 1e-4
# More entries than any vocabulary has.
_ALL = 1 << 40
_WORD = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class Check:
    """A promise of the interface, and the check that a model keeps it."""

    name: str  # a word for it
    promise: str  # the promise, as a sentence
    failures: Callable[[LanguageModel, Sequence[str]], Iterator[str]]
    # Function that says why a model does not make this promise; empty if it does.
    exempt: Callable[[LanguageModel], str] = lambda _: ""


def failures(check: Check, model: LanguageModel, texts: Sequence[str]) -> list[str]:
    """Return the ways in which a model breaks a promise that it makes; an error of the model is one of them."""
    found: list[str] = []
    try:
        found.extend(check.failures(model, texts))
    except SyntagmError as error:
        found.append(str(error))
    except Exception as error:  # the model's, whatever it is
        found.append(f"{type(error).__name__}: {error}")
    return found


def prefixes(texts: Sequence[str]) -> dict[str, str]:
    """Map each text of at least four words to its first half.

    >>> prefixes(["Porto", "No dog ever barks ."])
    {'No dog ever barks .': 'No dog ever'}
    """
    words = {text: [*_WORD.finditer(text)] for text in texts}
    return {text: text[: found[(len(found) - 1) // 2].end()] for text, found in words.items() if len(found) >= 4}


def _identity(model: LanguageModel, _: Sequence[str]) -> Iterator[str]:
    if not model.name:
        yield "no name"
    if not re.fullmatch("[0-9a-f]{64}", model.fingerprint):
        yield f"the fingerprint {model.fingerprint!r}; expected a SHA-256, as 64 hexadecimal digits"
    if model.bos == "":
        yield "bos is empty; expected the symbol before the first token, or None"
    for name, symbol in (("bos", model.bos), ("eos", model.eos)):
        stated, expected = model.settings.get(name, "no"), "no" if symbol is None else "yes"
        if stated != expected:
            yield f"the setting {name} is {stated!r}; expected {expected!r}, since {name} is {symbol!r}"
    if not 0 <= model.numerical_error < 1e-3:
        yield f"a numerical error of {model.numerical_error} bits; expected one from 0 to 0.001"
    if "score" not in model.can:
        yield "it does not list `score` among what it can do"
    methods = {"fill": LanguageModel.fill, "parse": LanguageModel.parse, "reduce": LanguageModel.reduce}
    for query, method in methods.items():
        if query in model.can and getattr(type(model), query) is method:
            yield f"it lists `{query}` among what it can do, but has no method of this name"
    if (family := families.of_model(model.name)) and (more := model.can.difference(family.can)):
        yield f"it can {QUERIES[min(more)]}, which the declaration of its family does not list"
    if not model.exact and not set(model.settings) - {"bos", "eos"}:
        yield "an approximate model without settings; expected what the approximation depends on, such as beam sizes"


def _order(model: LanguageModel, texts: Sequence[str]) -> Iterator[str]:
    asked = [*texts, *reversed(texts)]
    answered = [answer.text for answer in model.score(asked)]
    if len(answered) != len(asked):
        yield f"{len(answered)} answers to {len(asked)} texts"
    for index, (text, answer) in enumerate(zip(asked, answered, strict=False)):
        if text != answer:
            yield f"answer {index} is to {answer!r}; expected {text!r}"
            return


def _done(model: LanguageModel, texts: Sequence[str]) -> Iterator[str]:
    asked, counts = [*texts, *texts], list[int]()
    list(model.score(asked, counts.append))
    if sum(counts) != len(asked):
        yield f"`done` was told of {sum(counts)} texts; expected {len(asked)}"
    if list(model.score([])):
        yield "answers to no texts"


def _tokens(model: LanguageModel, texts: Sequence[str]) -> Iterator[str]:
    for answer in model.score(texts):
        if problem := fault_in_tokens(answer, model.eos is not None):
            yield f"{answer.text!r}: {problem.found}; expected {problem.expected}"


def _alignment(model: LanguageModel, texts: Sequence[str]) -> Iterator[str]:
    for answer in model.score(texts):
        bounds = [*answer.starts.tolist(), len(answer.text)]
        for left, right in pairwise(bounds):
            if len((token := answer.text[left:right]).split()) > 1:
                yield f"{answer.text!r}: the token {token!r} is in several words, so their bits can't be told apart"


def _bits(model: LanguageModel, texts: Sequence[str]) -> Iterator[str]:
    bare = model.bos is None
    for answer in model.score(texts):
        if bare and len(answer.bits) and not np.isnan(answer.bits[0]):
            yield f"{answer.text!r}: {_shown(answer, 0)}; expected nan, since nothing precedes it"
        if (wrong := ~np.isfinite(answer.bits[bare:])).any():
            yield f"{answer.text!r}: {_shown(answer, int(wrong.argmax()) + bare)}; expected a number"
        elif problem := possible.fault(answer, model):
            yield f"{answer.text!r}: {problem.found}; expected {problem.expected}"


def _symbols(model: LanguageModel, _: Sequence[str]) -> Iterator[str]:
    for name, symbol in (("bos", model.bos), ("eos", model.eos)):
        # A program names its state as it likes.
        if symbol is None or len(symbol.split()) != 1 or not model.steady:
            continue
        text = f"a {symbol.strip()} b"
        try:
            [answer] = model.score([text])
        except SyntagmError:  # it is refused in texts
            continue
        bounds = [*answer.starts.tolist(), len(text)]
        tokens = [text[left:right].strip() for left, right in pairwise(bounds)]
        if symbol.strip() in tokens and answer.in_vocabulary[tokens.index(symbol.strip())]:
            yield f"{name} is {symbol!r}, which is an ordinary token of {text!r}, too"


def _determinism(model: LanguageModel, texts: Sequence[str]) -> Iterator[str]:
    for first, again in zip([*model.score(texts)], model.score(texts), strict=True):
        yield from _different(first, again, "when asked again")


def _company(model: LanguageModel, texts: Sequence[str]) -> Iterator[str]:
    alone = {text: next(iter(model.score([text]))) for text in texts}
    batches = {
        "among other texts": [*texts],
        "among other texts, in another order": [*reversed(texts)],
        "among repeated texts": [texts[-1], *texts, texts[-1], texts[0]],
    }
    for how, batch in batches.items():
        for text, answer in zip(batch, model.score(batch), strict=True):
            yield from _different(alone[text], answer, how)


def _repeats(model: LanguageModel, texts: Sequence[str]) -> Iterator[str]:
    first, _, again = model.score([texts[0], texts[-1], texts[0]])
    if not np.array_equal(first.bits, again.bits, equal_nan=True):
        yield from _different(first, again, "the second time in one list", 0.0)


def _prefixes(model: LanguageModel, texts: Sequence[str]) -> Iterator[str]:
    for text, prefix in prefixes(texts).items():
        longer, shorter = model.score([text, prefix])
        kept = len(shorter.starts) - (model.eos is not None)
        if shorter.starts[:kept].tolist() != longer.starts[:kept].tolist():
            yield f"{prefix!r} and the beginning of {text!r} have other tokens"
            continue
        apart = ~np.isclose(shorter.bits[:kept], longer.bits[:kept], rtol=0, atol=CLOSE, equal_nan=True)
        if apart.any():
            token = int(apart.argmax())
            yield f"{prefix!r}: {_shown(shorter, token)}, but {longer.bits[token]:.4f} in {text!r}"


def _empty(model: LanguageModel, texts: Sequence[str]) -> Iterator[str]:
    answers = [*model.score(["", "", texts[0]])]
    if len(answers) != 3:
        yield f"{len(answers)} answers to 3 texts, of which two are empty"
        return
    [answer] = model.score([""])
    if answer.text:
        yield f"an answer to {answer.text!r}; expected one to the empty text"
    if model.eos is not None and not len(answer.starts):
        yield f"no tokens; expected the end-of-text symbol {model.eos!r}"
    if answer.starts.any():
        yield f"tokens that begin at {answer.starts.tolist()} in the empty text"
    if not np.isfinite(answer.bits).all():
        yield f"the bits {answer.bits.tolist()}; expected numbers"


def _sums(model: LanguageModel, _: Sequence[str]) -> Iterator[str]:
    words = model.words or ()
    for context in ("", words[0], f"{words[-1]} {words[len(words) // 2]}"):
        left = f"{context} " if context else ""
        probabilities = 2.0 ** -_next(model, left, words)
        if model.eos is not None:
            [answer] = model.score([context])
            probabilities = np.append(probabilities, 2.0 ** -answer.bits[-1])
        if not abs((total := math.fsum(probabilities)) - 1) < _SUM:
            end = f" and {model.eos!r}" if model.eos is not None else ""
            yield f"after {context!r}, the {len(words):,} words{end} have the probability {total:.6f} in all; expected 1"


def _next(model: LanguageModel, left: str, words: Sequence[str]) -> np.ndarray:
    """Return the bits of each word after the text `left`."""
    if "fill" in model.can:
        [fill] = model.fill([Gap(left, "", tuple(words))])
        return fill.bits
    answers = model.score([left + word for word in words])
    return np.array([_after(answer, left) for answer in answers])


def _after(answer: Surprisals, left: str) -> float:
    """Return the bits of the tokens that belong to what follows the text `left`."""
    inside = (answer.starts >= len(left.rstrip())) & (answer.starts < len(answer.text))
    return float(answer.bits[inside].sum())


def _gaps(model: LanguageModel, _: Sequence[str]) -> Iterator[str]:
    counts: list[int] = []
    fills = [*model.fill([*GAPS, GAPS[0]], counts.append)]
    if len(fills) != 3 or sum(counts) != 3:
        yield f"{len(fills)} answers to 3 gaps, and `done` was told of {sum(counts)}"
        return
    [alone] = model.fill(GAPS[1:])
    for gap, fill, again in ((GAPS[0], fills[0], fills[2]), (GAPS[1], fills[1], alone)):
        if len(fill.bits) != len(gap.words):
            yield f"{len(fill.bits)} answers to {len(gap.words)} candidates"
        elif not np.allclose(fill.bits, again.bits, rtol=0, atol=CLOSE, equal_nan=True):
            yield f"{_show_gap(gap)}: {fill.bits.tolist()} bits, and {again.bits.tolist()} among other gaps"
        if problem := possible.fault_in_gap(fill, model):
            yield f"{_show_gap(gap)}: {problem.found}; expected {problem.expected}"
        ranked = ~np.isnan(fill.above)
        left = 1 - fill.above[ranked] - fill.below[ranked]
        if not ((left > -1e-9) & (left < 1 + 1e-9)).all() or (ranked != ~np.isnan(fill.below)).any():
            yield f"{_show_gap(gap)}: above {fill.above.tolist()}, below {fill.below.tolist()}; expected parts of 1"


def _agreement(model: LanguageModel, _: Sequence[str]) -> Iterator[str]:
    for gap, fill in zip(GAPS, model.fill(GAPS), strict=True):
        for word, bits, answer in zip(
            gap.words, fill.bits, model.score([gap.left + w for w in gap.words]), strict=True
        ):
            if not np.isnan(bits) and not abs(bits - (scored := _after(answer, gap.left))) < CLOSE:
                yield f"{word!r} has {bits:.4f} bits in {_show_gap(gap)}, and {scored:.4f} in {answer.text!r}"


def _reductions(model: LanguageModel, texts: Sequence[str]) -> Iterator[str]:
    for plain, answer, text in zip(model.score(texts), model.reduce(texts), texts, strict=True):
        yield from _different(plain, answer, "with its reductions")
        if answer.reductions is None:
            yield f"{text!r}: no reductions"
            return
        entropy, rank = answer.reductions.entropy, answer.reductions.rank
        if (np.isnan(entropy) | np.isnan(rank) != np.isnan(answer.bits)).any():
            yield f"{text!r}: entropies {entropy.tolist()}, ranks {rank.tolist()}; expected nan where the bits are"
        if problem := possible.fault(answer, model):
            yield f"{text!r}: {problem.found}; expected {problem.expected}"
        # As many likelier entries can't have more than all probability.
        if (wrong := rank * 2.0**-answer.bits > 1 + _SUM).any():
            token = int(wrong.argmax())
            yield f"{text!r}: {_shown(answer, token)}, so its rank can't be {rank[token]:g}"
        [alone] = model.reduce([text])
        if alone.reductions and not np.allclose(entropy, alone.reductions.entropy, rtol=0, atol=CLOSE, equal_nan=True):
            yield f"{text!r}: entropies {entropy.tolist()}, and {alone.reductions.entropy.tolist()} without other texts"
    if "best" in model.can and model.settings.get("masking", "token") == "token":
        yield from _brute_force(model)


def _brute_force(model: LanguageModel) -> Iterator[str]:
    """Compare reductions with those of all entries of the vocabulary, as gaps list them."""
    gaps = [replace(gap, words=gap.words[:1], best=_ALL) for gap in GAPS]
    answers = model.reduce([gap.left + gap.words[0] + gap.right for gap in gaps])
    for gap, fill, answer in zip(gaps, model.fill(gaps), answers, strict=True):
        begin, end = len(gap.left.rstrip()), len(gap.left) + len(gap.words[0])
        tokens: list[int] = np.flatnonzero((answer.starts >= begin) & (answer.starts < end)).tolist()
        # A model that sees both sides has another distribution if several tokens are in the gap.
        if not fill.best or answer.reductions is None or (model.sees != "left" and len(tokens) != 1):
            continue
        entropy, rank = float(answer.reductions.entropy[tokens[0]]), float(answer.reductions.rank[tokens[0]])
        bits = np.array([entry.bits for entry in fill.best])
        expected = math.fsum(bits * 2.0**-bits)
        if not abs(entropy - expected) < CLOSE:
            yield f"{_show_gap(gap)}: an entropy of {entropy:.4f} bits; that of the {len(bits):,} entries is {expected:.4f}"
        low, high = (1 + int((bits < answer.bits[tokens[0]] + slack).sum()) for slack in (-CLOSE, CLOSE))
        if not low <= rank <= high:
            yield f"{_show_gap(gap)}: rank {rank:g} of {_shown(answer, tokens[0])}; in the vocabulary it has rank {low}"


def _show_gap(gap: Gap) -> str:
    return f"'{gap.left}___{gap.right}'"


def _shown(answer: Surprisals, token: int) -> str:
    bounds = [*answer.starts.tolist(), len(answer.text)]
    return f"token {token}, {answer.text[bounds[token] : bounds[token + 1]]!r}, has {answer.bits[token]:.4f} bits"


def _different(one: Surprisals, other: Surprisals, how: str, close: float = CLOSE) -> Iterator[str]:
    if other.text != one.text:
        yield f"{one.text!r}: {how}, an answer to {other.text!r}"
    elif other.starts.tolist() != one.starts.tolist():
        yield f"{one.text!r}: {how}, tokens that begin at {other.starts.tolist()} instead of {one.starts.tolist()}"
    elif other.in_vocabulary.tolist() != one.in_vocabulary.tolist():
        yield f"{one.text!r}: {how}, other words are known"
    elif (apart := ~np.isclose(one.bits, other.bits, rtol=0, atol=close, equal_nan=True)).any():
        token = int(apart.argmax())
        yield f"{one.text!r}: {_shown(one, token)}; {how}, {other.bits[token]:.4f}"
    elif not abs(difference := float(np.nansum(one.bits) - np.nansum(other.bits))) <= close:
        yield f"{one.text!r}: {how}, the bits differ by {abs(difference):.6f} in all"


def _no_prefixes(model: LanguageModel) -> str:
    return "" if model.sees == "left" else f"a token's surprisal depends on more than the text before it ({model.sees})"


def _no_sums(model: LanguageModel) -> str:
    if not model.exact:
        return "the model is approximate"
    return "" if model.words else "the model lists no words"


def _no_gaps(model: LanguageModel) -> str:
    return "" if "fill" in model.can else "the model does not fill gaps"


def _no_reductions(model: LanguageModel) -> str:
    return "" if "reduce" in model.can else "the model does not tell entropies and ranks"


def _no_agreement(model: LanguageModel) -> str:
    if "word" in (model.settings.get("fill"), model.settings.get("boundary")):
        return "the probability of a candidate is corrected for the end of the word"
    if model.sees != "left":
        return "a candidate's surprisal depends on the text after it"
    return _no_gaps(model)


CHECKS = (
    Check("identity", "The model states its fingerprint, its symbols and its settings.", _identity),
    Check("order", "There is one answer for each text, in the order of the texts.", _order),
    Check("progress", "Each text is counted once as it is answered; no texts have no answers.", _done),
    Check("tokens", "Tokens partition the text; white space belongs to the token after it.", _tokens),
    Check("alignment", "No token crosses a word border.", _alignment),
    Check("bits", "Every token has a surprisal of at least 0, except a first one that nothing precedes.", _bits),
    Check("symbols", "The symbols around a text can't be tokens of a text.", _symbols),
    Check("determinism", "The same question gets the same answer.", _determinism),
    Check("company", "An answer does not depend on the other texts, their order or repetitions.", _company),
    Check("repeats", "A repeated text gets exactly the same bits.", _repeats),
    Check("prefixes", "A prefix has the same bits as the beginning of the longer text.", _prefixes, _no_prefixes),
    Check("empty", "The empty text has an answer.", _empty),
    Check("sums", "The probabilities of all words after a text sum to 1.", _sums, _no_sums),
    Check("gaps", "Gaps are filled in order; an answer does not depend on the other gaps.", _gaps, _no_gaps),
    Check("agreement", "A candidate in a gap has the bits of the same word in a text.", _agreement, _no_agreement),
    Check("reductions", "Entropies and ranks are those of the whole vocabulary.", _reductions, _no_reductions),
)
