"""Benchmark of RNNGs: surprisals by beam search compared with a plain decoder, and training.

Goals: 20 times the sentences per CPU-second of rnng-pytorch with shared prefixes, 8 times without, and 6 times its words
per CPU-second in training. Its figures were measured on a core of the same kind, with a model of the same size.
"""

import time
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

PEER_SENTENCES, PEER_WORDS = 0.078, 300
GOALS = {"all conditions together": 20, "one sentence at a time": 8}
WORDS, LABELS, WIDTH, LAYERS = 1_420, 27, 256, 2
EVERY, PLAIN, TREES, BATCH, STEPS = 40, 2, 640, 64, 8
BEAMS = (100, 10, 1)


def rnng(rounds: int, cap: int | None) -> str:
    """Run the benchmark and return the results as Markdown."""
    import torch

    torch.set_num_threads(1)
    lines = ["## RNNG", ""]
    for parts in ("stack", "all"):
        lines += _scoring(parts, rounds, cap) + _training(parts, rounds)
    return "\n".join([*lines, ""])


def _scoring(parts: str, rounds: int, cap: int | None) -> list[str]:
    from benchmarks.plain_rnng import PlainDecoder
    from syntagm.models import NetworkGrammar, Sizes, search

    network, sentences = _network(parts), _sentences()[:cap]
    sizes, grammar, plain = Sizes(*BEAMS), NetworkGrammar(network), PlainDecoder(network)

    def together() -> None:
        ordered = sorted(sentences)
        for first in range(0, len(ordered), 16):
            search(grammar, ordered[first : first + 16], sizes)

    def alone() -> None:
        for sentence in sentences:
            search(grammar, [sentence], sizes)

    def one_at_a_time() -> None:
        for sentence in sentences[:PLAIN]:
            plain.surprisals(sentence, sizes)

    programs: dict[str, tuple[Callable[[], None], int]] = {
        "all conditions together": (together, len(sentences)),
        "one sentence at a time": (alone, len(sentences)),
        "one derivation at a time (`plain_rnng.py`)": (one_at_a_time, len(sentences[:PLAIN])),
    }
    words = sum(map(len, sentences))
    lines = [
        f"**Scoring, parts={parts}**: {LAYERS} x {WIDTH}, {WORDS:,} words, {LABELS} labels, random weights; "
        f"{len(sentences)} sentences, {words:,} words; beams {', '.join(map(str, BEAMS))}; medians of {rounds} rounds.",
        "", "| | sentences / CPU-second | times rnng-pytorch | goal |", "|---|---|---|---|",
    ]  # fmt: skip
    for name, (program, count) in programs.items():
        speed = count / median(_seconds(program) for _ in range(rounds))
        goal = GOALS.get(name) if parts == "stack" else None
        reached = "" if goal is None else f"{goal}: {'reached' if speed >= goal * PEER_SENTENCES else '**missed**'}"
        lines.append(f"| {name} | {speed:.3f} | {speed / PEER_SENTENCES:.1f} | {reached} |")
    return [*lines, ""]


def _training(parts: str, rounds: int) -> list[str]:
    import numpy as np
    import torch

    from syntagm.training import OnePass, batch, nats

    trees = _trees()
    groups = np.array_split(np.argsort([len(tree.actions) for tree in trees], kind="stable"), len(trees) // BATCH)
    network = _network(parts).train()
    optimiser, softmax = torch.optim.AdamW(network.parameters(), lr=1e-3), OnePass(network.word)
    read = sum(len(trees[index].words) for group in groups[:STEPS] for index in group)

    def steps() -> None:
        for group in groups[:STEPS]:
            made = batch([trees[index] for index in group], LABELS)
            optimiser.zero_grad()
            of_actions, of_words = nats(network, made, softmax)
            ((of_actions + of_words) / len(made.words)).backward()
            optimiser.step()

    speed = read / median(_seconds(steps) for _ in range(rounds))
    goal = f"; goal 6: {'reached' if speed >= 6 * PEER_WORDS else '**missed**'}" if parts == "stack" else ""
    shape = f"**Training, parts={parts}**: {BATCH} trees per step, {read:,} words"
    return [f"{shape}: {speed:,.0f} words / CPU-second, {speed / PEER_WORDS:.1f} times rnng-pytorch{goal}.", ""]


def _seconds(program: Callable[[], None]) -> float:
    start = time.process_time()
    program()
    return time.process_time() - start


def _network(parts: str) -> Any:
    import torch

    from syntagm.models import RnngNetwork

    torch.manual_seed(1)
    return RnngNetwork(WORDS, LABELS, WIDTH, WIDTH, LAYERS, parts, 0.3).eval()


def _sentences() -> list[list[int]]:
    """Return the sentences of every `EVERY`-th item of the bundled suites; a word is a number below the vocabulary's size."""
    from syntagm import read_suites

    numbers: dict[str, int] = {}
    sentences: Sequence[str] = [
        sentence.text
        for suite in read_suites("hu2020")
        for item in suite.items[::EVERY]
        for sentence in item.sentences.values()
    ]
    return [[2 + numbers.setdefault(word, len(numbers)) % (WORDS - 2) for word in text.split()] for text in sentences]


def _trees() -> list[Any]:
    """Return random trees, of 20 words and 0.8 constituents a word on average."""
    import numpy as np

    from syntagm.models import Vocabulary
    from syntagm.training import Derivation, encoded

    random = np.random.default_rng(1)
    labels = [f"L{number}" for number in range(LABELS - 1)] + ["X"]
    vocabulary = Vocabulary(("</s>", "<unk>", *(f"w{number}" for number in range(WORDS - 2))), 1, "none")
    trees = []
    for _ in range(TREES):
        length = int(random.integers(5, 36))
        actions, opened = [labels[0]], [0]
        words = 0
        while words < length:
            if random.random() < 0.8 / 1.8 and len(opened) < 20:
                actions.append(labels[random.integers(LABELS)])
                opened.append(0)
            elif random.random() < 0.45 and len(opened) > 1 and opened[-1]:
                actions.append(")")
                opened.pop()
                opened[-1] += 1
            else:
                actions.append("")
                opened[-1] += 1
                words += 1
        while opened:
            if not opened[-1]:
                actions.pop()
                opened.pop()
                continue
            actions.append(")")
            opened.pop()
            if opened:
                opened[-1] += 1
        drawn = tuple(f"w{number}" for number in random.integers(0, WORDS - 2, length))
        trees.append(encoded(Derivation(drawn, tuple(actions)), vocabulary, labels))
    return trees
