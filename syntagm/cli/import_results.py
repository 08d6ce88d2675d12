"""Import the results of another tool as a run.

    syntagm import-results lm-eval out/samples_*.jsonl --label gpt2 -o runs/lm_eval
    syntagm import-results minicons scores.csv --label gpt2 -o runs/minicons
    syntagm import-results babylm predictions.json --suite blimp_filtered --label gpt2 -o runs/babylm

    lm-eval   samples_TASK_DATE.jsonl of tasks with pairs of sentences, such as blimp or those of
              `syntagm convert --as lm-eval-task`, as lm-evaluation-harness writes them with --log_samples
    minicons  a CSV file with the columns good,bad,score_good,score_bad (sums of natural logarithms);
              also suite, item and reported (1 or 0)
    babylm    predictions.json of BabyLM's pipeline, which has choices only; --suite names the pairs

A run has two verdicts for each pair: `full_sentence` counts ties as failures, as everywhere
here, and `as_reported` is the tool's own, which may count them as hits. There are sums of
sentences and no tokens. With --suite, the run is of these suites, and so comparable with others
of them; babylm needs it, as its files have no sentences. Where a tool gives choices and no numbers, as
babylm does, ties can't be told, and both verdicts are the tool's. Compare, tabulate and report such runs like others.
"""

import argparse
import shlex
import sys

from syntagm.cli import _files


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("tool", metavar="TOOL", help="lm-eval, minicons or babylm")
    parser.add_argument("files", metavar="FILE", nargs="+", help="the files of the tool")
    parser.add_argument("--label", metavar="NAME", default="model", help="the name of the model in results (model)")
    parser.add_argument("--suite", metavar="PATH", nargs="+", default=[], help="the suites that were asked")
    _files.add_output(parser, "DIR", "the run directory", required=True)


def run(arguments: argparse.Namespace) -> int:
    from syntagm.evaluation import FULL, REPORTED
    from syntagm.runs import import_results

    suites = _files.read_suites(arguments.suite) if arguments.suite else []
    made = import_results(
        arguments.tool,
        arguments.files,
        arguments.output,
        arguments.label,
        suites,
        command=shlex.join(["syntagm", *sys.argv[1:]]),
    )
    results = made.results()
    for name in (FULL, REPORTED):
        values, margins = (results.filter(measure=name)[column] for column in ("value", "margin"))
        defined = values.filter(values.is_not_nan())
        said = "ties unknown: the tool gives choices only, and may give ties to the good sentence"
        if margins.is_not_nan().any():
            said = f"{int((margins.abs() <= made.tolerance).sum()):,} ties"
        mean = f"{float(defined.mean()):.4f} of" if len(defined) else "no verdict on"  # type: ignore[arg-type]
        print(f"{name}: {mean} {len(defined) or len(values):,} pairs, {said}")
    print(f"run: {arguments.output}")
    return 0
