"""Generator of the page of conventions, from `syntagm/evaluation/conventions` and, if run directories are given, from runs.

python -m tools.conventions [unigrams=FILE] [RUN ...]
"""

import sys
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING

from syntagm.evaluation import LINKINGS, TREATMENTS

if TYPE_CHECKING:
    from syntagm.runs import Run

PAGE = Path(__file__).resolve().parents[1] / "docs" / "reference" / "conventions.md"
_FLIPS = "## How much they move\n"
_HEAD = """# Conventions: which number is it?

For people who compare accuracies of papers and tools, or choose a number of their own. Papers and tools compare the
two sentences of a pair by different numbers, and call the share of pairs that come out right by one name. In Syntagm,
the number is the sum of bits of the whole sentence, for every dataset, unless you ask for another one:

    syntagm table conventions runs/demo                          # accuracy under each, and the verdicts that flip
    syntagm table conventions runs/demo unigrams=corpus.txt      # also SLOR and others that weigh frequency
    syntagm table conventions runs/demo convention=mean_token,penalised
    syntagm figure conventions runs/demo -o conventions          # how many verdicts differ between each two
    syntagm table claims runs/demo runs/gpt2                     # which claims survive every convention
    syntagm table auc runs/demo                                  # separation across items, beside accuracy in pairs

All are computed from the tokens of a run, so no model is asked again. They apply to predictions that compare two
whole sentences. A difference of at most the tolerance, in bits and before any division, is a tie; a tie is a failure
unless the convention says otherwise. `flips` are the pairs whose verdict differs from that by `bits`.

`--convention` makes one of them the number of a run, or of a table, figure, comparison or plan of runs made by bits:

    syntagm run gpt2 --suite SLING/*.jsonl --convention mean_token -o runs/sling
    syntagm run gpt2 --suite SLING/*.jsonl --convention published -o runs/sling
    syntagm table scores runs/demo runs/gpt2 --convention mean_byte+ties_as_hits
    syntagm compare runs/demo runs/gpt2 --convention published

`published` is the convention of each dataset's authors, which [the page of datasets](datasets.md) lists: for most it is
the sum, for SLING `mean_token`. It is refused where the authors' number is not among those below, and for a suite of
no dataset of the list. Each signature then has `convention:NAME`; of suites whose conventions differ, it has
`convention:published`, and `scored` in `run.json` says which is which. Margins are then differences of that number, in
bits or in bits per unit, and exactly 0 for a tie. Predictions about regions are judged in bits, with a warning. A run
goes on only under the convention with which it began. In a suite that does not aggregate by `sum`, the `bits` of a run
are those of its aggregate; other conventions, and these tables, are of tokens. SLOR and others with a unigram model
are computed from the run: `table conventions RUN unigrams=FILE`. In Python:
`sg.evaluate(model, suites, convention="published")`.

Every table, figure, comparison, report and page of runs under another convention than `bits` says so, and warns if runs
side by side have different ones. On the pages of `syntagm serve`, "Judged by" leads to the same page under another
convention (`/under/mean_token/suite/NAME`), and the overview has the claims that survive all of them, if the runs have
at most 4,000 pairs.

The page is written by `python -m tools.conventions`, its last section with the runs that it names.

## Linking functions

b are the surprisals of tokens or words in bits, u those of the words under a unigram model (`unigrams=`). The
sentence with the lower number is preferred. Tokens and words are those that are scored, an end-of-text symbol among
them; characters and bytes are those of the whole text. `mean_word` is the `mean_bits` of [`table
normalised`](statistics.md); `mean_token` is not among the scores there.

| name | what is compared | used by |
|---|---|---|
"""
_MORCELA = """
`ratings=FILE` adds `morcela`: (Σ b - β Σ u - γ) / words, with β and γ fitted by least squares on ratings of the run's
sentences (CSV, `text,rating`). It contains `slor` (β = 1, γ = 0), which overcorrects for frequency (Tjuatja et al.
2024, arXiv 2411.02528). On the sentences on which it was fitted, its accuracy is not a test.

Under a masked model, b are pseudo-surprisals, and `bits` is the negative pseudo-log-likelihood (Salazar et al. 2020);
the model's option `masking=word` masks the rest of a word, too (Kauf & Ivanova 2023).

Asking a model in words is not among the conventions: it measures another ability, and finds less of small models (Hu &
Levy 2023). Of large ones, Ide et al. 2025 (arXiv 2408.09639) report that two of nine such ways do better than sums. As
extras, `syntagm convert FILE FOLDER --as in-template` makes suites that compare sentences after a template that
announces an acceptable one, and `--as yes-no` suites that compare the odds of "Yes" against "No" after a question. They
are suites of their own, named so, with templates of ours, and never a default.

## Treatments

`LINKING+TREATMENT` leaves something out, or counts ties otherwise.

| name | what it does | used by |
|---|---|---|
"""
_MIDDLE = """
What decides the surprisals themselves is no treatment but an option of the model or another text, and needs another
run: `bos=no` (the context lacks the start symbol), `eos=yes`, `dtype=`, and sentences in lower case or with a blank
before them. lm-evaluation-harness scores the pairs of BLiMP with a blank before each sentence.

## What tools do by default

| tool | number | start symbol | ties |
|---|---|---|---|
| Syntagm | `bits` | that of the tokenizer, or the end symbol if the family uses one for both | failures, counted |
| lm-evaluation-harness 0.4.13, `acc` | `bits`; a blank before sentences of BLiMP | the same | hits |
| the same, `acc_norm` and `acc_bytes` | `mean_character`, `mean_byte` | the same | hits |
| minicons 0.3.39, `sequence_score` | `mean_token` | none, unless `bos_token=True` | up to the script |
| BabyLM's pipeline until April 2026 | `bits` | what the tokenizer adds: none for GPT-2 | hits (`torch.max`) |
| BabyLM's pipeline since then | the same | the same | broken by chance |
| SyntaxGym | `bits` of regions | what the tokenizer adds | failures |

## Separation besides pairs

A model may prefer the good sentence of each pair, and still not tell good sentences from bad ones, because sentences
differ more from each other than the two of a pair (Hu et al. 2026, 10.1162/TACL.a.611). `table auc` has the area
under the ROC curve: the share of all pairs of a good and a bad sentence, of the same item or of two, in which the
good one has the lower cost; ties count half. `matched` compares sentences with the same number of tokens only. Items
are the random units of its interval, which covers the true value in at least .93 of simulations with 30 items or more
(`benchmarks/coverage_auc.md`).

## Beside other tools

    syntagm convert pairs.tsv tasks --as lm-eval-task     # YAML and JSON lines that lm-evaluation-harness runs
    cd tasks && lm_eval --model hf --model_args pretrained=gpt2 --include_path . --tasks syntagm_pairs \\
        --log_samples --output_path out
    syntagm import-results lm-eval out/*/samples_*.jsonl --suite pairs.tsv --label gpt2 -o runs/lm_eval
    syntagm compare runs/gpt2 runs/lm_eval --explain

Such a task has no blank before a sentence, so its `acc` is `bits+ties_as_hits`, `acc_norm` is `mean_character`, and
`acc_bytes` is `mean_byte`; `export --as lm-eval` names the accuracy of a run under these conventions so, and
exports none under others. `import-results minicons` reads a table of scores, and `import-results babylm` the choices
of BabyLM's pipeline. A run has both verdicts: `full_sentence`, in which a tie is a failure, and `as_reported`, the
tool's.

`run MODEL --config babylm --suite FILES` is for the pairs of BabyLM's pipeline (`blimp_filtered`,
`supplement_filtered`), which you bring: JSON lines with `sentence_good` and `sentence_bad`, with BLiMP's other fields
or without. The sentences are compared as they stand, by `bits`, and ties are failures; after any run with ties the last
lines have the number with ties as hits, which the pipeline gave until April 2026. Since then it breaks ties by chance:
`--config babylm-2026` (`bits+ties_as_half`) is what that gives on average, but for scores that are no numbers, which
are undefined here and minus infinity there. Name models whose tokenizer adds no start symbol with `?bos=no`, as the
pipeline scores them. Make one run for each folder, over whose files the pipeline takes its mean.

`export RUN --as every-eval-ever -o FILE.json` writes a record of [Every Eval Ever](https://evalevalai.com) (schema
0.3.0): the accuracy of each suite and prediction with its interval, convention and signature, and a line for each item
in `FILE_samples.jsonl`. Their validator accepts it; what no run knows, such as your organization, it asks you to fill
in.

`compare A B --explain` and `table explanation A B` search the smallest set of differences by which A gets the verdicts
of B on the same pairs: another linking function, tokens that don't count, ties as hits. What decides the surprisals
themselves can't be found in the tokens of a run. With `--rescore MODEL` (`model=` of the table), the model of A scores
pairs again, up to 500 with other verdicts and as many others, with and without start and end symbol, in another dtype,
with a blank before the sentences, and in lower case; at most two of these, and three differences in all, are assumed
together:

    syntagm compare runs/gpt2 runs/lm_eval --explain --rescore gpt2

"""


def page() -> str:
    """Return the page up to the section that needs runs."""
    functions = "".join(
        f"| `{each.name}` | {_formula(each.formula)}: {each.says} | {each.used} |\n" for each in LINKINGS
    )
    rules = "".join(f"| `{each.name}` | {each.says} | {each.used} |\n" for each in TREATMENTS)
    return _HEAD + functions + _MORCELA + rules + _MIDDLE


def _formula(text: str) -> str:
    return text.replace("sum ", "Σ ")


def flips(folders: list[str], unigrams: str = "") -> str:
    """Return the last section: the accuracy under each convention, and its flips, for some runs.

    Arguments:
        unigrams: a text in which words are counted, for conventions that weigh their frequency; "" for none.
    """
    from syntagm.runs import open_run
    from syntagm.views import conventions

    runs = [open_run(folder) for folder in folders]
    tables = [conventions.make_table([run], unigrams=unigrams) for run in runs]
    totals = [
        {str(row[2]): row for row in table.rows if str(row[1]).startswith("mean of") or len(run.suites) == 1}
        for run, table in zip(runs, tables, strict=True)
    ]
    names = list(dict.fromkeys(name for own in totals for name in own))
    head = "".join(f" {Path(folder).name} | flips |" for folder in folders)
    lines = [f"| convention |{head}", "|---|" + "---|---|" * len(runs)]
    for name in names:
        cells = [_cells(own[name]) if name in own else " | |" for own in totals]
        lines.append(f"| `{name}` |" + "".join(cells))
    items = sum(suite.items for suite in runs[0].suites)
    suites = ", ".join(suite.name for suite in runs[0].suites)
    about = (
        f"Accuracy (the mean over suites) and flips on {items:,} pairs, drawn at random from each of "
        f"{len(runs[0].suites)} paradigms of BLiMP: {suites}. {_models(runs, folders)} The models are small ones, whose margins "
        f"are small, so these are upper ends.{_counted(unigrams)} A mean is undefined if a suite has no pair with a number, as "
        "where nothing follows the words that differ."
    )
    return "\n".join([_FLIPS, *wrap(about, 120), "", *lines]) + "\n"


def _models(runs: "list[Run]", folders: list[str]) -> str:
    named = [f"{Path(folder).name} is `{run.model}`{_kind(run)}" for folder, run in zip(folders, runs, strict=True)]
    return f"Of the models, {'; '.join(named)}."


def _kind(run: "Run") -> str:
    record = run.record["model"]["record"]
    kind = record.get("architecture") or (f"order {record['order']}" if "order" in record else "")
    return f" ({kind}{', masked: pseudo-surprisals' if run.record['model']['sees'] == 'both' else ''})" if kind else ""


def _counted(unigrams: str) -> str:
    return f" Words are counted in {Path(unigrams).name}." if unigrams else ""


def _cells(row: tuple[object, ...]) -> str:
    value = row[4]
    return f" {value:.3f} | {row[7]:,} |" if isinstance(value, float) else f" undefined | {row[7]:,} |"


def main(words: list[str]) -> None:
    """Write the page; without runs, its last section stays as it is."""
    folders = [word for word in words if not word.startswith("unigrams=")]
    unigrams = next((word.removeprefix("unigrams=") for word in words if word not in folders), "")
    if folders:
        last = flips(folders, unigrams)
    else:
        _, found, rest = PAGE.read_text(encoding="utf-8").partition(_FLIPS)
        last = found + rest
    PAGE.write_text(page() + last, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
