"""The methods of some runs in plain English, written from their records, with citations: `[@key]` as Pandoc reads them."""

import re
from collections.abc import Iterator, Sequence

import polars as pl

from syntagm.models import families
from syntagm.models.family import SURPRISAL, Scoring
from syntagm.report import references
from syntagm.report.markdown import code, counted, text
from syntagm.runs.store import Run
from syntagm.stats import bootstrap
from syntagm.tasks.task import SuiteRecord

_COMPARISON = ("mcnemar-1947-note", "holm-1979-simple", "benjamini-hochberg-1995-controlling")
_RULES = {
    "strict": "; where one reached over a border, the item was left out as undefined",
    "start": ", even where it reaches over a border",
}
_BOOTSTRAP = "efron-1979-bootstrap"


def paragraphs(runs: Sequence[Run]) -> list[str]:
    """What was run, on what, and how the numbers were made, as paragraphs in Markdown; the last lists the suites."""
    suites = _suites(runs)
    return [
        " ".join([_materials(runs, suites), *map(_model, runs)]),
        " ".join(_measure(runs)),
        " ".join([*_numbers(runs), _software(runs)]),
        "Suites, with the first eight digits of the hash of their content: " + ", ".join(map(_named, suites)) + ".",
    ]


def keys(runs: Sequence[Run]) -> list[str]:
    """The keys of everything that the runs rest on, in the order of the text."""
    found = [key for suite in _suites(runs) for key in references.of_suite(suite)[0]]
    for run in runs:
        found += [*references.of_model(run), *references.of_scoring(run)]
    return list(dict.fromkeys([*found, _BOOTSTRAP, *(_COMPARISON if _compared(runs) else ())]))


def unknown(runs: Sequence[Run]) -> list[str]:
    """A sentence for each suite whose source is not said, or not known here."""
    found = []
    for suite in _suites(runs):
        known, lacking = references.of_suite(suite)
        found += [f"suite {suite.name}: {one} is not in the bibliography" for one in lacking]
        if not known and not lacking:
            found.append(f"suite {suite.name} names no source")
    return found


def latex(paragraph: str) -> str:
    r"""A paragraph as LaTeX, for natbib.

    >>> latex("Surprisal [@hale-2001-probabilistic; @levy-2008-expectation] of `a_b`, 95%.")
    'Surprisal \\citep{hale-2001-probabilistic,levy-2008-expectation} of \\texttt{a\\_b}, 95\\%.'
    """
    from syntagm.drawing.table import _tex

    made = []
    for piece in re.split(r"(\[@[^\]]+\]|`[^`]*`)", paragraph):
        if piece.startswith("[@"):
            made.append(rf"\citep{{{','.join(re.findall(r'@([^;]+)', piece[1:-1]))}}}")
        elif piece.startswith("`"):
            made.append(rf"\texttt{{{_tex(piece[1:-1])}}}")
        else:
            made.append(_tex(re.sub(r"\\(.)", r"\1", piece)))
    return "".join(made)


def _cite(found: Sequence[str]) -> str:
    return f" [{'; '.join('@' + key for key in dict.fromkeys(found))}]" if found else ""


def _code(plain: str) -> str:
    """As code even with signs that a table could not hold."""
    return text(plain) if "`" in plain else f"`{plain}`"


def _suites(runs: Sequence[Run]) -> list[SuiteRecord]:
    return list({(suite.name, suite.hash): suite for run in runs for suite in run.suites}.values())


def _materials(runs: Sequence[Run], suites: Sequence[SuiteRecord]) -> str:
    items, sentences = sum(suite.items for suite in suites), sum(suite.sentences for suite in suites)
    cited = [key for suite in suites for key in references.of_suite(suite)[0]]
    ours = sum(suite.tags.get("author") == "Syntagm" for suite in suites)
    who = " (items written for Syntagm after the designs of these works)" if cited and ours == len(suites) else ""
    asked = "questions" if any(map(references.is_fill, runs)) else "sentences"
    size = f"{counted(len(suites), 'suite')} with {counted(items, 'item')} and {sentences:,} {asked}"
    return f"We evaluated {counted(len(runs), 'language model')} on {size}{_cite(cited)}{who}."


def _model(run: Run) -> str:
    model, record = run.record["model"], run.record["model"]["record"]
    policies = references.settings(run)
    about = [f"{record['architecture']} architecture"] if "architecture" in record else []
    about += [f"order {record['order']}"] if "order" in record else []
    about += [f"{name} {code(str(record[name])[:12])}" for name in ("revision", "weights", "hash") if record.get(name)]
    about += [text(_words(run, "dtype"))] if "dtype" in policies else []
    before = f"{_code(str(model['start']))} stood before each text" if model["start"] else "nothing stood before a text"
    ends = "the end symbol was scored, too" if policies.get("eos") == "yes" else "no end symbol was scored"
    others = [f"{key} {code(value)}" for key, value in policies.items() if key not in ("bos", "eos", "dtype")]
    shown = f" ({', '.join(about)})" if about else ""
    said = f"For {code(run.model)}{shown}{_cite(references.of_model(run))} {before} and {ends}"
    return said + (f"; {', '.join(others)}." if others else ".")


def _measure(runs: Sequence[Run]) -> Iterator[str]:
    score = [run for run in runs if not references.is_fill(run)]
    ways = dict.fromkeys(map(_scoring, runs))
    for way in sorted(ways, key=lambda way: way is not SURPRISAL):
        chosen = [run for run in runs if _scoring(run) == way]
        cited = _cite([key for run in chosen for key in references.of_scoring(run) if key != references.BLANKS])
        named = {
            setting: " or ".join(dict.fromkeys(_words(run, setting) for run in chosen)) for setting in way.settings
        }
        yield f"{way.words.format(**named)}{cited}."
    yield from map(_blanks, (run for run in runs if references.is_fill(run)))
    if not score:
        return
    kinds = dict.fromkeys(suite.aggregate for run in score for suite in run.suites)
    yield f"The value of a region is the {' or '.join(kinds)} of the surprisals of its tokens, in bits."
    for rule in dict.fromkeys(run.rule for run in score):
        yield f"A token belongs to the region of its first visible character{_RULES[rule]}."
    count = sum(len(suite.predictions) for suite in _suites(score))
    limits = " or ".join(f"{one:g}" for one in dict.fromkeys(run.tolerance for run in score))
    yield (
        f"The suites make {counted(count, 'prediction')}, each an inequality between such values. A prediction holds of an item "
        f"if its margin is above {limits} bits; smaller differences are ties and count as failures."
    )


def _blanks(run: Run) -> str:
    options = run.record["options"]
    cuts = [
        f"the {kind} {', '.join(f'{one:g}' for one in options[kind])} of the probability"
        for kind in ("top", "bottom")
        if options.get(kind)
    ]
    cut = f", at {' and '.join(cuts)}" if cuts else ""
    words = options["words"]
    named = f"{code(words['name'])} ({words['hash'][:8]}; eligible: {options['eligible']})"
    return (
        f"Where the two sentences of an item differ in one word, {code(run.model)} was asked for every form of the list {named} "
        "in its place. TSE is the proportion of items whose grammatical word is the likelier one; equal weight is the proportion "
        "of the rows of the list whose fitting form is the likelier one, model weight the share of the probability of all forms "
        f"that goes to fitting ones, both averaged over distinct contexts{cut}{_cite([references.BLANKS])}."
    )


def _scoring(run: Run) -> Scoring:
    family = families.of_model(run.model)
    return family.scoring if family else SURPRISAL


def _words(run: Run, setting: str) -> str:
    """What a value of a scoring setting is called: by the family's declaration, else as the record has it."""
    family, value = families.of_model(run.model), str(run.record["model"]["policies"][setting])
    return family.words(setting, value) if family else value


def _numbers(runs: Sequence[Run]) -> Iterator[str]:
    draws = f"{bootstrap.DRAWS:,} draws, seed {bootstrap.SEED}"
    if not all(map(references.is_fill, runs)):
        yield (
            "The accuracy of a suite is the proportion of its items of which the prediction holds; a score over suites is the "
            "unweighted mean of the accuracies by the first prediction of each."
        )
    over = "items (or contexts)" if any(map(references.is_fill, runs)) else "items"
    yield (
        f"Intervals are 95% percentile bootstrap intervals over {over}, within suites for a score over several "
        f"({draws}){_cite([_BOOTSTRAP])}."
    )
    for run in runs:
        defined = run.results().filter(pl.col("value").is_not_nan())
        ties = defined.filter(pl.col("margin").abs() <= run.tolerance).height
        undefined = sum(run.undefined.values())
        if ties or undefined:
            tied = "was a tie" if ties == 1 else "were ties"
            yield f"Under {code(run.model)} {counted(ties, 'verdict')} {tied} and {undefined:,} undefined."
        if not run.done:
            yield f"The run of {code(run.model)} is not finished."
    if _compared(runs):
        yield (
            f"Models were compared on the same items by McNemar's exact test{_cite(_COMPARISON[:1])}, adjusted over the suites "
            f"by Holm's method{_cite(_COMPARISON[1:2])} and by that of Benjamini and Hochberg{_cite(_COMPARISON[2:])}."
        )


def _compared(runs: Sequence[Run]) -> bool:
    """Do two runs of `syntagm run` have a suite in common? Weights of fill runs are no verdicts that flip."""
    seen = [(suite.name, suite.hash) for run in runs if not references.is_fill(run) for suite in run.suites]
    return len(seen) > len(set(seen))


def _software(runs: Sequence[Run]) -> str:
    versions = {f"Syntagm {run.record['versions']['syntagm']} [@syntagm]": None for run in runs}
    versions |= {f"Python {run.record['versions']['python']}": None for run in runs}
    for run in runs:
        family, record = families.of_model(run.model), run.record["model"]["record"]
        for program in family.programs if family else ():
            versions |= {f"{program.name} {record[program.key]}": None} if record.get(program.key) else {}
    return f"Numbers were computed with {', '.join(versions)}."


def _named(suite: SuiteRecord) -> str:
    return f"{code(suite.name)} ({suite.hash[:8]}, {counted(suite.items, 'item')})"
