"""The beam search of RNNGs: published check values, enumeration, and what holds for every grammar."""

from collections.abc import Sequence
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from syntagm.models import OPEN, REDUCE, SHIFT, Grammar, Sizes, search
from syntagm.models.rnng.search import Floats, Numbers


class Counting(Grammar):
    """A grammar whose logits depend only on the number of open constituents, which is its state."""

    def __init__(self, slopes: Sequence[float], logits: Sequence[float], words: Sequence[float]) -> None:
        self.slopes, self.logits = np.array(slopes, float), np.array(logits, float)
        self.log_words = np.log(words)

    def start(self) -> int:
        return 0

    def actions(self, states: Numbers) -> Floats:
        return self.logits + self.slopes * states[:, None]

    def words(self, states: Numbers, words: Numbers) -> Floats:
        return self.log_words[words]

    def advance(self, states: Numbers, actions: Numbers, words: Numbers) -> Numbers:
        return states + np.where(actions >= OPEN, 1, np.where(actions == REDUCE, -1, 0))


# The labels A and B; the words a, b, c.
TOY = Counting([0.013, -0.017, 0, 0], [0.7, 0.3, 0, -0.37], [0.5, 0.3, 0.2])
SENTENCE = [0, 1, 2, 0]


def bits(grammar: Grammar, sentence: Sequence[int], sizes: Sizes) -> list[float]:
    [reading] = search(grammar, [sentence], sizes)
    return (-np.diff([0, *reading.masses]) / np.log(2)).tolist()


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        (Sizes(100, 10, 5), [1.20456, 2.77412, 3.54011, 2.26766]),
        (Sizes(10, 3, 1), [1.65740, 3.04445, 3.62939, 2.30744]),
        (Sizes(3, 2, 1), [1.87086, 3.46013, 3.63184, 2.30617]),
        (Sizes(3, 2, 0), [1.87086, 5.69555, 91.97796, 1.74544]),
        (Sizes(2000, 200, 20), [1.00646, 2.18709, 3.04231, 1.92464]),
        (Sizes(100, 10, 5, "mask"), [1.20456, 2.42917, 3.16724, 1.87086]),
        (Sizes(10, 3, 1, "mask"), [1.65740, 2.60782, 3.19279, 1.87086]),
        (Sizes(2000, 200, 20, "mask"), [1.00632, 1.90811, 2.78791, 1.64873]),
    ],
    ids=str,
)
def test_check_values(sizes: Sizes, expected: list[float]) -> None:
    assert [round(value, 5) for value in bits(TOY, SENTENCE, sizes)] == expected


def exact(grammar: Counting, sentence: Sequence[int], depth: int = 100) -> list[float]:
    """Return the log-mass after each word by the rule `drop`, over all derivations, by the number of open constituents.

    Between two words, constituents are closed, then opened: none is closed right after it was opened.
    """
    labels = list(range(OPEN, len(grammar.logits)))

    def probabilities(opened: int, valid: Sequence[int]) -> dict[int, float]:
        powers = np.exp((grammar.logits + grammar.slopes * opened)[valid])
        return dict(zip(valid, powers / powers.sum(), strict=True))

    mass, masses = np.zeros(depth + 2), []
    mass[0] = 1.0
    for word in sentence:
        opening, shifted = np.zeros(depth + 2), np.zeros(depth + 2)
        for opened in range(depth, 0, -1):
            shares = probabilities(opened, [SHIFT, REDUCE, *labels])
            shifted[opened] += mass[opened] * shares[SHIFT]
            opening[opened + 1] += mass[opened] * sum(shares[label] for label in labels)
            # What closes the root is dropped.
            mass[opened - 1] += mass[opened] * shares[REDUCE] * (opened > 1)
        opening[1] += mass[0]
        for opened in range(1, depth + 1):
            shares = probabilities(opened, [SHIFT, *labels])
            shifted[opened] += opening[opened] * shares[SHIFT]
            opening[opened + 1] += opening[opened] * sum(shares[label] for label in labels)
        mass = shifted * np.exp(grammar.log_words[word])
        masses.append(float(np.log(mass.sum())))
        mass[0] = 0.0
    return masses


def test_a_beam_finds_part_of_the_mass_of_all_derivations() -> None:
    masses = exact(TOY, SENTENCE)
    surprisals = -np.diff([0, *masses]) / np.log(2)
    assert surprisals.round(5).tolist() == [1.0, 1.99281, 2.4747, 1.09646]
    found = [search(TOY, [SENTENCE], Sizes(beam, beam // 10, 5))[0].masses for beam in (10, 100, 2000)]
    for smaller, larger in pairwise([*found, masses]):
        assert (np.array(smaller) < larger).all()


DEEPEST = 3


def enumerated(grammar: Counting, sentence: Sequence[int], root: str) -> tuple[list[float], list[int]]:
    """Return the log-mass after each word, and the best tree, over all derivations with at most `DEEPEST` open."""
    masses = [0.0] * len(sentence)
    best, tree = -np.inf, []
    derivations: list[tuple[int, int, float, list[int]]] = [(0, 0, 0.0, [])]
    while derivations:
        opened, read, score, actions = derivations.pop()
        valid = [SHIFT] * (opened > 0) + list(range(OPEN, len(grammar.logits))) * (opened < DEEPEST)
        ended = read == len(sentence)
        if opened and actions[-1] < OPEN and (opened > 1 or root == "drop" or ended):
            valid.append(REDUCE)
        logits = grammar.logits + grammar.slopes * opened
        logs = logits - np.log(np.exp(logits[valid]).sum())
        for action in [REDUCE] if ended else valid:
            after, longer = score + logs[action], [*actions, action]
            if action == SHIFT:
                after += grammar.log_words[sentence[read]]
                masses[read] += np.exp(after)
                derivations.append((opened, read + 1, after, longer))
            elif action >= OPEN:
                derivations.append((opened + 1, read, after, longer))
            elif opened > 1:
                derivations.append((opened - 1, read, after, longer))
            elif ended and after > best:
                best, tree = after, longer
    return np.log(masses).tolist(), tree


@pytest.mark.parametrize("root", ["drop", "mask"])
@pytest.mark.parametrize("sentence", [[0], [1, 0], [0, 2, 1]])
def test_a_beam_that_keeps_everything_enumerates(
    monkeypatch: pytest.MonkeyPatch, sentence: list[int], root: str
) -> None:
    monkeypatch.setattr("syntagm.models.rnng.search.MOST_OPEN", DEEPEST)
    grammar = Counting([0.1, -0.2, -0.3], [0.7, 0.3, 0.5], [0.5, 0.3, 0.2])
    [reading] = search(grammar, [sentence], Sizes(10**5, 10**5, 0, root), trees=True)
    masses, best = enumerated(grammar, sentence, root)
    np.testing.assert_allclose(reading.masses, masses, rtol=0, atol=1e-12)
    assert reading.best is not None
    assert reading.best[-1] == best


def test_the_surprisals_of_the_exact_mask_rule_are_those_of_the_words() -> None:
    # No mass is lost but for more than 8 in a row; where opening is rare, a large beam finds nearly all of it.
    grammar = Counting([0, 0, 0], [1.0, 1.0, -3.0], [0.5, 0.3, 0.2])
    found = bits(grammar, SENTENCE, Sizes(5000, 5000, 0, "mask"))
    np.testing.assert_allclose(found, -np.log2([0.5, 0.3, 0.2, 0.5]), atol=2e-3)


LOGITS = st.lists(st.floats(-2, 2), min_size=4, max_size=4)


@pytest.mark.slow
@settings(max_examples=25)
@given(LOGITS, st.lists(st.floats(-0.3, 0.3), min_size=4, max_size=4), st.sampled_from(["drop", "mask"]))
def test_a_larger_beam_never_lowers_the_mass_if_nothing_else_is_limited(
    logits: list[float], slopes: list[float], root: str
) -> None:
    grammar = Counting(slopes, logits, [0.5, 0.3, 0.2])
    before = np.full(3, -np.inf)
    for beam in (1, 2, 4, 9, 20, 60):
        [reading] = search(grammar, [[0, 1, 2]], Sizes(beam, 10**6, 10**6, root))
        assert (reading.masses >= before - 1e-9).all()
        before = reading.masses


@pytest.mark.slow
@settings(max_examples=15)
@given(LOGITS, st.integers(1, 8), st.integers(1, 4), st.integers(0, 3), st.sampled_from(["drop", "mask"]))
def test_a_prefix_has_the_beam_of_any_sentence_that_begins_with_it(
    logits: list[float], beam: int, word_beam: int, fast_track: int, root: str
) -> None:
    grammar = Counting([0.013, -0.017, 0, 0], logits, [0.5, 0.3, 0.2])
    sizes = Sizes(beam, word_beam, fast_track, root)
    sentences = [list(words) for words in product(range(3), repeat=1)] + [[2, 1], [2, 1, 0], [2, 1, 0]]
    together = search(grammar, sentences, sizes, trees=True)
    for sentence, reading in zip(sentences, together, strict=True):
        [alone] = search(grammar, [sentence], sizes, trees=True)
        np.testing.assert_array_equal(reading.masses, alone.masses)
        assert reading.best == alone.best
        assert (np.diff([0, *reading.masses[np.isfinite(reading.masses)]]) <= 1e-12).all()


class Bounded(Counting):
    """A grammar whose words are rarer inside more constituents; it counts for how many states they are computed."""

    def __init__(self, slack: float, *logits: Sequence[float]) -> None:
        super().__init__(*logits)
        self.slack, self.computed = slack, 0

    def words(self, states: Numbers, words: Numbers) -> Floats:
        self.computed += len(states)
        return self.log_words[words] - 0.21 * (states * 7 % 5)

    def at_most(self, states: Numbers, words: Numbers) -> Floats:
        return self.log_words[words] - 0.21 * (states * 7 % 5) + self.slack * (1 + states % 3)


@pytest.mark.slow
@settings(max_examples=15)
@given(
    LOGITS, st.integers(1, 30), st.integers(1, 6), st.integers(0, 4), st.floats(0, 3), st.sampled_from(["drop", "mask"])
)
def test_bounds_of_words_change_no_number(
    logits: list[float], beam: int, word_beam: int, fast_track: int, slack: float, root: str
) -> None:
    parts = [0.013, -0.017, 0.002, 0], logits, [0.5, 0.3, 0.2]
    sizes, sentences = Sizes(beam, word_beam, fast_track, root), [[0, 1, 2, 0], [0, 2], [1, 1, 1]]
    everything = search(Bounded(1e6, *parts), sentences, sizes, trees=True)
    for reading, expected in zip(search(Bounded(slack, *parts), sentences, sizes, trees=True), everything, strict=True):
        np.testing.assert_array_equal(reading.masses, expected.masses)
        assert reading.best == expected.best


def test_words_are_computed_for_few_derivations() -> None:
    parts = [0.013, -0.017, 0, 0], [0.7, 0.3, 0, -0.37], [0.005, 0.003, 0.002]
    loose, tight = Bounded(1e6, *parts), Bounded(0.1, *parts)
    assert bits(tight, SENTENCE, Sizes()) == bits(loose, SENTENCE, Sizes())
    assert tight.computed < 0.5 * loose.computed


def test_a_word_that_no_derivation_reaches_ends_the_search() -> None:
    # After each word, the only action kept closes the root.
    greedy = Counting([0, 0, 0], [0, 5, -5], [0.5, 0.5])
    sentences = [[0, 1, 0], [0]]
    three, one = search(greedy, sentences, Sizes(1, 1, 0), trees=True)
    assert np.isfinite(three.masses).tolist() == [True, False, False]
    assert three.best is not None
    assert [len(tree) for tree in three.best] == [2, 0, 0]
    assert one.best == [[OPEN, SHIFT, REDUCE]]


def test_trees_are_those_of_the_best_derivations() -> None:
    [reading] = search(TOY, [SENTENCE], Sizes(), trees=True)
    assert reading.best is not None
    # One constituent around all words: any other action costs more.
    assert reading.best[-1] == [OPEN, SHIFT, SHIFT, SHIFT, SHIFT, REDUCE]
    assert reading.best[1] == [OPEN, SHIFT, SHIFT]


def test_sums_do_not_underflow() -> None:
    [reading] = search(Counting([0, 0, 0], [0, 0, 0], [1e-30, 1.0]), [[0] * 100], Sizes(3, 2, 1))
    assert np.isfinite(reading.masses).all()
    assert reading.masses[-1] < -6_900


@pytest.mark.parametrize("sentence", [[0], [1, 0]])
def test_the_mass_of_closed_trees_is_that_of_all_trees_of_the_sentence(sentence: list[int]) -> None:
    deep = Counting([0.013, -0.017, -40, -40], [0.7, 0.3, 100, 99.5], [0.5, 0.3, 0.2])
    everything = Sizes(10_000, 10_000, 0)
    [reading] = search(deep, [sentence], everything, ends=True)
    [again, _] = search(deep, [sentence, [2, 2, 2]], everything, trees=True)
    assert reading.closed == again.closed == pytest.approx(_closed_trees(deep, sentence))
    assert reading.best is None
    assert np.isnan(search(deep, [sentence], everything)[0].closed)


def _closed_trees(grammar: Counting, sentence: Sequence[int]) -> float:
    """Return the log-probability of a sentence, over all trees with at most `DEEPEST` open constituents."""

    def total(opened: int, read: int, last: int, logs: float) -> float:
        valid = [SHIFT] * (opened > 0) + [REDUCE] * (opened > 0 and last < OPEN) + [OPEN, OPEN + 1]
        logits = grammar.logits + grammar.slopes * opened
        after = logs + logits - np.log(np.exp(logits[valid]).sum())
        found = 0.0
        if SHIFT in valid and read < len(sentence):
            found += total(opened, read + 1, SHIFT, after[SHIFT] + grammar.log_words[sentence[read]])
        if REDUCE in valid and opened > 1:
            found += total(opened - 1, read, REDUCE, after[REDUCE])
        elif REDUCE in valid and read == len(sentence):
            found += float(np.exp(after[REDUCE]))
        if opened < DEEPEST:
            found += sum(total(opened + 1, read, action, after[action]) for action in (OPEN, OPEN + 1))
        return found

    return float(np.log(total(0, 0, OPEN, 0.0)))


def test_a_sentence_that_is_not_reached_has_no_end() -> None:
    greedy = Counting([0, 0, 0], [0, 5, -5], [0.5, 0.5])
    [reading, short] = search(greedy, [[0, 1, 0], [0]], Sizes(1, 1, 0), ends=True)
    assert reading.closed == -np.inf
    assert np.isfinite(short.closed)
