"""The results of the scoring benchmark as Markdown: ratios are computed within rounds, and their medians are shown."""

from collections.abc import Iterator
from statistics import median

from benchmarks.scoring import TOOLS, Race

SHARE_OF_COUNT, SHARE_OF_RATE = 0.95, 0.80
BF16_OVER_BF16, BF16_OVER_F32 = 1.7, 3.0
# Smaller margins, in nats, are ties, as in the package (1e-4 bits).
TIE = 1e-4 * 0.6931
PEERS = TOOLS[1:]


def table(race: Race) -> str:
    """Return all lines about one sample."""
    dtypes = {dtype for _, dtype in race.rounds[0]}
    lines = [*_head(race), *_tools(race), "", *_goals(race, "float32")]
    if "bfloat16" in dtypes:
        lines += _low_precision(race)
    return "\n".join([*lines, "", *_agreement(race), ""])


def _head(race: Race) -> list[str]:
    sample = race.sample
    return [
        f"## {sample.name}", "",
        f"{len(sample.sentences):,} sentences ({len(set(sample.sentences)):,} distinct), {len(sample.pairs):,} pairs; "
        f"{race.inputs:,} unique-prefix inputs, {race.flops / 1e12:.2f} TFLOP; medians of {len(race.rounds)} rounds.", "",
        "| | CPU-seconds | wall | sentences / CPU-second | tokens evaluated | tokens / inputs "
        "| GFLOP / CPU-second | of the matmul rate |",
        "|---|---|---|---|---|---|---|---|",
    ]  # fmt: skip


def _tools(race: Race) -> Iterator[str]:
    for tool, dtype in sorted(race.rounds[0], key=lambda key: (key[1] != "float32", TOOLS.index(key[0]))):
        timings = [timings_of_round[tool, dtype] for timings_of_round in race.rounds]
        cpu, tokens = median(timing.cpu for timing in timings), timings[0].tokens
        yield (
            f"| {tool} {dtype} | {cpu:.1f} | {median(timing.wall for timing in timings):.1f} "
            f"| {len(race.sample.sentences) / cpu:.1f} | {tokens:,} | {tokens / race.inputs:.2f} "
            f"| {race.flops / cpu / 1e9:.0f} | {_share(race, tool, dtype):.0%} |"
        )
    rates = ", ".join(f"{dtype} {_rate(race, dtype) / 1e9:.0f}" for dtype in sorted(race.rates[0], reverse=True))
    yield f"\nThe machine's matrix-multiply rate with the model's shapes, GFLOP / CPU-second: {rates}."


def _goals(race: Race, dtype: str) -> Iterator[str]:
    peer = _faster_peer(race, dtype)
    for name in PEERS:
        ratio = _ratio(race, (name, dtype), ("syntagm", dtype))
        goal = SHARE_OF_COUNT * race.rounds[0][name, dtype].tokens / race.inputs
        faster = ", the faster peer" if name == peer else ""
        yield (
            f"* {dtype}: {ratio[0]:.2f} x {name} ({ratio[1]:.2f} to {ratio[2]:.2f}){faster}; "
            f"goal {goal:.2f}: {_met(ratio[0] >= goal)}"
        )
    share = _share(race, "syntagm", dtype)
    yield f"* {dtype}: {share:.0%} of the matmul rate; goal {SHARE_OF_RATE:.0%}: {_met(share >= SHARE_OF_RATE)}"


def _low_precision(race: Race) -> Iterator[str]:
    if _rate(race, "bfloat16") < 1.3 * _rate(race, "float32"):
        yield "* bfloat16: this CPU multiplies it no faster than float32, so its goals don't apply."
    for dtype, goal in (("bfloat16", BF16_OVER_BF16), ("float32", BF16_OVER_F32)):
        peer = _faster_peer(race, dtype)
        ratio = _ratio(race, (peer, dtype), ("syntagm", "bfloat16"))
        yield (
            f"* bfloat16: {ratio[0]:.2f} x the faster peer's {dtype} ({peer}; {ratio[1]:.2f} to {ratio[2]:.2f}); "
            f"goal {goal}: {_met(ratio[0] >= goal)}"
        )


def _agreement(race: Race) -> Iterator[str]:
    """Yield the largest differences in nats, and the numbers of changed verdicts where our float32 margin is no tie."""
    first_round = race.rounds[0]
    ours = first_round["syntagm", "float32"].scores
    yield "Differences from our float32, with the same conventions (after the start symbol, no leading space, sums):"
    yield ""
    yield "| | largest difference, nats | mean | verdicts changed | exact ties |"
    yield "|---|---|---|---|---|"
    for tool, dtype in first_round:
        if (tool, dtype) != ("syntagm", "float32"):
            scores = first_round[tool, dtype].scores
            differences = [abs(own - other) for own, other in zip(ours, scores, strict=True)]
            changed, ties = _changed(race, ours, scores)
            mean, pairs = sum(differences) / len(differences), len(race.sample.pairs)
            yield f"| {tool} {dtype} | {max(differences):.1e} | {mean:.1e} | {changed} of {pairs} | {ties} |"


def _changed(race: Race, ours: list[float], theirs: list[float]) -> tuple[int, int]:
    changed = ties = 0
    for good, bad in race.sample.pairs:
        if abs(ours[good] - ours[bad]) > TIE:
            changed += (ours[good] > ours[bad]) != (theirs[good] > theirs[bad])
            ties += theirs[good] == theirs[bad]
    return changed, ties


def _faster_peer(race: Race, dtype: str) -> str:
    return min(PEERS, key=lambda name: median(timings[name, dtype].cpu for timings in race.rounds))


def _ratio(race: Race, slower: tuple[str, str], faster: tuple[str, str]) -> tuple[float, float, float]:
    """Return the ratio of CPU-seconds: median, smallest and largest over the rounds."""
    values = [timings[slower].cpu / timings[faster].cpu for timings in race.rounds]
    return median(values), min(values), max(values)


def _rate(race: Race, dtype: str) -> float:
    return median(rates[dtype] for rates in race.rates)


def _share(race: Race, tool: str, dtype: str) -> float:
    pairs = zip(race.rounds, race.rates, strict=True)
    return median(race.flops / timings[tool, dtype].cpu / rates[dtype] for timings, rates in pairs)


def _met(reached: bool) -> str:
    return "reached" if reached else "**missed**"
