"""Write the page that says which paradigms some models solve, and which a baseline explains.

    syntagm run MODEL --name NAME --suite 'warstadt2020?n=40&seed=1' -o RUN     for each model, and each collection
    python -m tools.solved RUN... -n 40 --seed 1 --about "LSTM: one layer of 128, one pass over 1.1 million words"

The runs may be of any models and collections; their suites must be those that -n and --seed draw. --about says on the page
what a model is.
"""

import argparse
from collections.abc import Mapping, Sequence
from math import isnan
from pathlib import Path
from textwrap import fill

import syntagm as sg
from syntagm.core import UsageError
from syntagm.evaluation import baselines, suite_hash
from syntagm.runs import Run, open_run
from syntagm.suites import Suite
from syntagm.views import accuracies, chance_of_suite

PAGE = Path(__file__).resolve().parents[1] / "docs" / "reference" / "collections" / "solved.md"
COLLECTIONS = ("warstadt2020", "frontier", "german")
_HEAD = """# What small models solve, and what a baseline explains

For people who choose paradigms: which of the bundled ones are within reach of small models, and which say little
because word frequency or length alone would score well. Written by `python -m tools.solved`, from runs with {n} items
each (seed {seed}) of

{models}

A model **solves** a paradigm (bold) if its accuracy by the first prediction is at least halfway from chance to 1, and
the 95% interval is above chance. A baseline **explains** a paradigm if its value, on the same items, is at least
halfway, too: the frequency of words in public-domain books (other languages: none), the number of words, or that of
characters; the best of them is shown. A model has no number where it was not run, where it can't be asked (it sees both
sides, and the prediction is about regions), or where no item was defined.
"""


def solves(score: float, low: float, chance: float) -> bool:
    """Return whether an accuracy is at least halfway from chance to 1, and significantly above chance.

    >>> solves(0.8, 0.7, 0.5), solves(0.8, 0.4, 0.5), solves(0.7, 0.6, 0.5)
    (True, False, False)
    """
    return score >= (1 + chance) / 2 and low > chance


def best_baseline(suite: Suite) -> tuple[float, str]:
    """Return the highest baseline of the first prediction, and its kind; nan if there is none."""
    frequencies, _ = baselines.fitting(suite, baselines.books())
    first = suite.predictions[0].name
    found = [each for each in baselines.baselines(suite, frequencies) if each.prediction == first and each.n]
    best = max(found, key=lambda each: each.value, default=None)
    return (best.value, best.kind) if best else (float("nan"), "")


def page(runs: Sequence[Run], collections: Sequence[str], n: int, seed: int, about: Mapping[str, str]) -> str:
    """Make the page.

    Arguments:
        about: label -> what the model is.

    Raises:
        UsageError: a run has a suite that isn't in the collections, or other items of one.
    """
    names = [str(run.record["model"].get("label") or run.model).removeprefix("causal:") for run in runs]
    labels = dict.fromkeys(names)
    # By content: two collections may have suites of one name.
    numbers = {
        (run.suite(estimate.group.suite).hash, name): (
            estimate,
            chance_of_suite(run.suite(estimate.group.suite), "first").value,
        )
        for name, run in zip(names, runs, strict=True)
        for estimate in accuracies(run, "first")
    }
    used = set[str]()
    lines = [_HEAD.format(n=n, seed=seed, models="\n".join(_item(label, about.get(label, "")) for label in labels))]
    summary, tables = [], list[str]()
    for collection in collections:
        rows, solved, explained, total = [], dict[str, int](), 0, 0
        for path in sorted((Path(sg.__file__).parent / "suites" / "materials" / collection).glob("*.toml")):
            for suite in sg.read_suites(f"{collection}/{path.stem}?n={n}&seed={seed}"):
                known = suite_hash(suite)
                used.add(known)
                cells = []
                value, kind = best_baseline(suite)
                chance = next((each[1] for (key, _), each in numbers.items() if key == known), float("nan"))
                for label in labels:
                    found = numbers.get((known, label))
                    if found is None or isnan(found[0].value):
                        cells.append("")
                        continue
                    right = solves(found[0].value, found[0].low, found[1])
                    solved[label] = solved.get(label, 0) + right
                    cells.append(f"**{found[0].value:.2f}**" if right else f"{found[0].value:.2f}")
                leaks = value >= (1 + chance) / 2
                explained += leaks
                total += 1
                shown = "" if isnan(value) else f"**{value:.2f}** {kind}" if leaks else f"{value:.2f} {kind}"
                rows.append(f"| {suite.name} | {chance:.2f} | {shown} | {' | '.join(cells)} |")
        head = f"| paradigm | chance | best baseline | {' | '.join(labels)} |"
        tables += ["", f"## {collection}", "", head, "|---" * (3 + len(labels)) + "|", *rows]
        counts = " | ".join(str(solved.get(label, "")) for label in labels)
        summary.append(f"| {collection} | {total} | {explained} | {counts} |")
    for run in runs:
        for record in run.suites:
            if record.hash not in used:
                found = f"other items of {record.name}"
                raise UsageError(str(run.place), found, "those of -n and --seed", "Give the -n and --seed of the runs.")
    head = (
        f"| collection | paradigms | explained by a baseline | {' | '.join(f'solved by {label}' for label in labels)} |"
    )
    return "\n".join([*lines, head, "|---" * (3 + len(labels)) + "|", *summary, *tables, ""])


def _item(label: str, about: str) -> str:
    return fill(f"- `{label}`" + f": {about}" * bool(about), 120, subsequent_indent="  ", break_on_hyphens=False)


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", metavar="RUN")
    parser.add_argument("-n", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--collections", nargs="+", default=COLLECTIONS)
    parser.add_argument("--about", action="append", default=[], metavar="NAME: TEXT")
    parser.add_argument("-o", dest="output", type=Path, default=PAGE)
    options = parser.parse_args()
    runs = [open_run(folder) for folder in options.runs]
    about = dict(text.split(": ", 1) for text in options.about)
    options.output.write_text(page(runs, options.collections, options.n, options.seed, about), "utf-8")


if __name__ == "__main__":
    main()
