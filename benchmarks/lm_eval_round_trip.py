"""Verdicts of lm-evaluation-harness on tasks that `syntagm convert` wrote, beside ours on the same pairs, in both directions.

    python -m benchmarks.lm_eval_round_trip --pairs 40 ../shared/data/blimp/*.jsonl          # a few minutes on one core
    python -m benchmarks.lm_eval_round_trip --python /path/of/python PAIRS.jsonl ...         # one that has lm-eval

Out: our run of the pairs against the harness's verdicts by the sums of its log-likelihoods, which are imported. Back: the
harness's own accuracies against `as_reported` of the imported run, and against the same run exported for the harness.
The model is the bundled demo, in float32.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl

from benchmarks import peers
from syntagm.cli import main as syntagm
from syntagm.runs import Run, open_run

MODEL = Path(__file__).resolve().parents[1] / "syntagm" / "models" / "_demo"


def verdicts(run: Run, measure: str) -> pl.DataFrame:
    """Return suite, item and value by a measure."""
    rows = run.results().filter(pl.col("measure") == measure).select("suite", "item", "value")
    return rows.with_columns(place=pl.int_range(pl.len()).over("suite"))


def harness(python: Path, folder: Path) -> dict[str, float]:
    """Run the harness in the folder of the tasks; return the accuracy of each task."""
    arguments = [
        *("--model", "hf", "--model_args", f"pretrained={MODEL},dtype=float32", "--include_path", "."),
        *("--tasks", f"syntagm_{folder.name}", "--log_samples", "--output_path", "out", "--device", "cpu"),
    ]
    subprocess.run([python, "-m", "lm_eval", *arguments, "--batch_size", "16"], cwd=folder, check=True)
    [file] = folder.glob("out/*/results_*.json")
    results = json.loads(file.read_text())["results"]
    return {
        name.removeprefix("syntagm_"): own["acc,none"]
        for name, own in results.items()
        if name != f"syntagm_{folder.name}"
    }


def main() -> None:
    """Compare both, and print how many verdicts differ."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path, help="JSON lines in BLiMP's layout")
    parser.add_argument("--pairs", type=int, default=40, help="the first pairs of each file (40)")
    parser.add_argument("--python", type=Path, help="a Python with lm-eval; by default the peers' environment is built")
    options = parser.parse_args()
    python = (options.python or peers.python()).absolute()
    with TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "suites").mkdir()
        for file in options.files:
            lines = file.read_text(encoding="utf-8").splitlines(keepends=True)[: options.pairs]
            if lines and "sentence_good" in lines[0]:
                (folder / "suites" / file.name).write_text("".join(lines), encoding="utf-8")
        suites = [str(path) for path in sorted((folder / "suites").iterdir())]
        quietly = ["--no-report", "-q"]
        syntagm(["run", str(MODEL), "--suite", *suites, "-o", str(folder / "ours"), *quietly])
        syntagm(["convert", str(folder / "suites"), str(folder / "tasks"), "--as", "lm-eval-task"])
        reported = harness(python, folder / "tasks")
        samples = [str(path) for path in sorted((folder / "tasks").glob("out/*/samples_*.jsonl"))]
        imported = ["import-results", "lm-eval", *samples, "--suite", *suites, "--label", "demo"]
        syntagm([*imported, "-o", str(folder / "theirs")])
        ours, theirs = open_run(folder / "ours"), open_run(folder / "theirs")
        both = verdicts(ours, "full_sentence").join(
            verdicts(theirs, "full_sentence"), on=["suite", "place"], suffix="_theirs"
        )
        changed = both.filter(pl.col("value") != pl.col("value_theirs"))
        print(f"out: {len(both):,} pairs, {len(changed)} verdicts changed")
        own = dict(verdicts(theirs, "as_reported").group_by("suite").agg(pl.col("value").mean()).iter_rows())
        apart = [suite for suite, value in own.items() if abs(reported[suite] - value) > 1e-12]
        syntagm(["export", str(folder / "ours"), "--as", "lm-eval", "-o", str(folder / "results.json")])
        exported = json.loads((folder / "results.json").read_text())["results"]
        means = dict(verdicts(ours, "full_sentence").group_by("suite").agg(pl.col("value").mean()).iter_rows())
        named = {f"blimp_{suite}": value for suite, value in means.items()} | means
        wrong = [name for name, entry in exported.items() if abs(entry["acc,none"] - named[name]) > 1e-12]
        print(f"back: {len(own)} tasks, {len(apart)} accuracies of the harness differ from those of the imported run")
        print(f"back: {len(exported)} exported tasks, {len(wrong)} accuracies differ from those of the run")
        sys.exit(1 if len(changed) or apart or wrong or len(both) != len(verdicts(ours, "full_sentence")) else 0)


if __name__ == "__main__":
    main()
