"""The plan that computes shared prefixes once."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from syntagm.models import Budget, Pack, batches, plan

SEQUENCES = st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=9), max_size=30)


def spelled(pack: Pack, path: np.ndarray) -> list[int]:  # type: ignore[type-arg]
    return [int(pack.tokens[node]) for node in path]


@pytest.mark.slow
@given(SEQUENCES, st.integers(1, 20), st.booleans())
def test_each_sequence_runs_through_one_tree_with_its_own_tokens(
    sequences: list[list[int]], size: int, last: bool
) -> None:
    packs = list(plan(sequences, size, last))
    planned = [index for pack in packs for index in pack.sequences]
    assert sorted(planned) == list(range(len(sequences)))
    for pack in packs:
        for index, path in zip(pack.sequences, pack.paths, strict=True):
            inputs = sequences[index] if last else sequences[index][:-1]
            assert spelled(pack, path) == inputs
            assert pack.depths[path].tolist() == list(range(len(inputs)))
            assert pack.parents[path].tolist() == [-1, *path.tolist()][: len(inputs)]


@pytest.mark.slow
@given(SEQUENCES, st.integers(1, 20))
def test_a_tree_is_small_and_says_nothing_twice(sequences: list[list[int]], size: int) -> None:
    for pack in plan(sequences, size):
        assert len(pack.tokens) <= size or len(pack.sequences) == 1
        prefixes = {tuple(spelled(pack, path)[: depth + 1]) for path in pack.paths for depth in range(len(path))}
        assert len(pack.tokens) == len(prefixes)


@pytest.mark.slow
@given(SEQUENCES)
def test_one_large_tree_holds_each_prefix_once(sequences: list[list[int]]) -> None:
    prefixes = {tuple(sequence[:length]) for sequence in sequences for length in range(1, len(sequence))}
    assert sum(len(pack.tokens) for pack in plan(sequences, 10**6)) == len(prefixes)


@pytest.mark.slow
@given(SEQUENCES)
def test_a_node_sees_its_ancestors_and_itself_only(sequences: list[list[int]]) -> None:
    for pack in plan(sequences, 12):
        mask = pack.mask()
        for node in range(len(pack.tokens)):
            line, at = {node}, node
            while pack.parents[at] >= 0:
                at = int(pack.parents[at])
                line.add(at)
            assert set(np.flatnonzero(mask[node]).tolist()) == line


def test_a_plan_by_hand() -> None:
    # 7 1 2 | 7 1 3 | 7 4 5: the inputs are 7 1, 7 1 and 7 4, four nodes apart, three together.
    sequences = [[7, 4, 5], [7, 1, 2], [7, 1, 3]]
    [pack] = plan(sequences, 3)
    assert pack.sequences == (1, 2, 0)
    assert pack.tokens.tolist() == [7, 1, 4]
    assert [pack.sequences for pack in plan(sequences, 2)] == [(1, 2), (0,)]
    assert [pack.sequences for pack in plan(sequences, 9, among=[0, 2])] == [(2, 0)]


@pytest.mark.slow
@given(SEQUENCES, st.integers(1, 30), st.integers(1, 30))
def test_batches_stay_within_the_budget(sequences: list[list[int]], size: int, budget: int) -> None:
    packs = list(plan(sequences, size))
    made = list(batches(iter(packs), Budget(budget)))
    assert [pack.sequences for batch in made for pack in batch] == [pack.sequences for pack in packs]
    for batch in made:
        widest = max(1, max(len(pack.tokens) for pack in batch))
        assert widest * len(batch) <= budget or len(batch) == 1


def test_a_budget_halved_on_the_way_holds_for_the_next_batch() -> None:
    budget = Budget(8)
    made = batches(plan([[number, 0, 0, 0] for number in range(8)], 3), budget)
    assert len(next(made)) == 2  # 3 inputs a pack, two packs in 8
    budget.tokens = 4
    # The pack that did not fit before begins the next batch.
    assert len(next(made)) == 1
