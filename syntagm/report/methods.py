"""The methods section about runs, from their records, as Markdown with citations in Pandoc's form (`[@key]`), LaTeX or HTML."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import polars as pl
from markupsafe import Markup, escape

from syntagm.core import FormulaError, counted, extras, shown
from syntagm.evaluation import DEFAULT, People, SuiteRecord
from syntagm.models import SURPRISAL, families
from syntagm.report import references
from syntagm.report.markdown import code, join, text
from syntagm.runs import Run, convention_of, explain, numbers_of_suites, settings as settings_of, ties_of
from syntagm.stats import bootstrap
from syntagm.suites import parse, sample_of

_COMPARISON = ("mcnemar-1947-note", "tango-1998-equivalence", "holm-1979-simple", "benjamini-hochberg-1995-controlling")
_RULES = {
    "strict": "; where a token crossed a border, the item was excluded as undefined",
    "start": ", even where it crosses a border",
}
# The outermost operator of a formula -> what the prediction is.
_SHAPES = {
    **{"<": "inequality", ">": "inequality", "=": "equality"},
    **{"&": "conjunction of comparisons", "|": "disjunction of comparisons"},
}
_EFFECTS = ("hall-1992-removal",)
# Which word of an item a gap is, by `--blank`.
_BLANKS = {"differing": "differ in one word", "shared": "share a word of the list"}
_INTERVALS = ("wilson-1927-probable", "korn-graubard-1998-confidence")


def paragraphs(runs: Sequence[Run]) -> list[str]:
    """Return paragraphs in Markdown about models and suites, measures, statistics and software, with a list of the suites."""
    suites = _suites(runs)
    # People are asked, and have no surprisals.
    scored = [run for run in runs if run.task.surprisals]
    asked = [_people(run) if run.task is People else _imported(run) for run in runs if not run.task.surprisals]
    return [
        " ".join([_materials(runs, suites), *_models(scored), *asked]),
        *([" ".join(_measure(scored))] if scored else []),
        " ".join([*_numbers(runs), _software(runs)]),
        f"Suites, with the first eight digits of the hash of their content: {', '.join(_list_suites(suites))}.",
    ]


def describe_sample(suites: Sequence[SuiteRecord]) -> str:
    """Say of how many items those of sampled suites were drawn, and with which seed; "" if no suite was sampled."""
    samples = [sample for suite in suites if (sample := sample_of(suite.tags))]
    if not samples:
        return ""
    drawn, total = sum(sample.items for sample in samples), sum(sample.of for sample in samples)
    seeds = sorted({sample.seed for sample in samples})
    of = "" if len(samples) == len(suites) else f"in {len(samples):,} of {len(suites):,} suites "
    named = f"{'seed' if len(seeds) == 1 else 'seeds'} {', '.join(map(str, seeds))}"
    reaches = sorted({sample.reach for sample in samples if sample.reach is not None})
    chosen = (
        f"; a pilot chose how many, for a 95% interval of half-width {', '.join(f'{reach:g}' for reach in reaches)} "
        "on each suite (--stop-at)"
        if reaches
        else ""
    )
    return f"{of}{drawn:,} of {counted(total, 'item')}, drawn at random ({named}){chosen}"


def keys(runs: Sequence[Run]) -> list[str]:
    """Return the BibTeX keys of everything that the runs use, in the order of the text."""
    cited = [key for suite in _suites(runs) for key in references.of_suite(suite)[0]]
    for run in runs:
        if run.task is not People:
            cited += [*references.of_model(run), *references.of_scoring(run)]
    effects = _EFFECTS if any(map(_predicted, runs)) else ()
    intervals = _INTERVALS if runs else ()
    return list(dict.fromkeys([*cited, *intervals, *effects, *_COMPARISON[: _tests(runs)]]))


def list_unknown_sources(runs: Sequence[Run]) -> list[str]:
    """Return a sentence for each suite without a source, or with a source that is not in the bibliography."""
    sentences = []
    for suite in _suites(runs):
        known, missing = references.of_suite(suite)
        sentences += [f"suite {suite.name}: {work} is not in the bibliography" for work in missing]
        if not known and not missing:
            sentences.append(f"suite {suite.name} names no source")
    return sentences


def latex(paragraph: str) -> str:
    r"""Translate a paragraph to LaTeX, with citations for natbib.

    >>> latex("Surprisal [@hale-2001-probabilistic; @levy-2008-expectation] of `a_b`, 95%.")
    'Surprisal \\citep{hale-2001-probabilistic,levy-2008-expectation} of \\texttt{a\\_b}, 95\\%.'
    """
    from syntagm.views import in_latex

    pieces = []
    for piece in re.split(r"(\[@[^\]]+\]|`[^`]*`)", paragraph):
        if piece.startswith("[@"):
            pieces.append(rf"\citep{{{','.join(re.findall(r'@([^;]+)', piece[1:-1]))}}}")
        elif piece.startswith("`"):
            pieces.append(rf"\texttt{{{in_latex(piece[1:-1])}}}")
        else:
            pieces.append(in_latex(re.sub(r"\\(.)", r"\1", piece)))
    return "".join(pieces)


def _cite(keys: Sequence[str]) -> str:
    return f" [{'; '.join('@' + key for key in dict.fromkeys(keys))}]" if keys else ""


def _code(plain: str) -> str:
    """Return a text as code, even if it has characters that a table can't contain."""
    return text(plain) if "`" in plain else f"`{shown(plain)}`"


def _suites(runs: Sequence[Run]) -> list[SuiteRecord]:
    return list({(suite.name, suite.hash): suite for run in runs for suite in run.suites}.values())


def _materials(runs: Sequence[Run], suites: Sequence[SuiteRecord]) -> str:
    items, sentences = sum(suite.items for suite in suites), sum(suite.sentences for suite in suites)
    cited = [key for suite in suites for key in references.of_suite(suite)[0]]
    ours = sum(suite.tags.get("author") == "Syntagm" for suite in suites)
    who = " (items written for Syntagm after the designs of these works)" if cited and ours == len(suites) else ""
    unit = "questions" if any(map(references.fills_gaps, runs)) else "sentences"
    size = f"{counted(len({suite.name for suite in suites}), 'suite')}{_versions(suites)} with {counted(items, 'item')} and "
    size += f"{sentences:,} {unit}"
    sample = describe_sample(suites)
    drawn = f" Only a sample of the items was evaluated: {sample}." if sample else ""
    different = f" Not all on all of them: {text(counts)}." if (counts := numbers_of_suites(runs)) else ""
    models = {(run.model, run.record["model"]["fingerprint"]) for run in runs if run.task is not People}
    people = {run.model for run in runs if run.task is People}
    done = [f"evaluated {counted(len(models), 'language model')}"] if models else []
    done += [f"asked {counted(len(people), 'group')} of people"] if people else []
    return f"We {' and '.join(done)} on {size}{_cite(cited)}{who}.{different}{drawn}"


def _people(run: Run) -> str:
    """Say who was asked, how, who was excluded by which rules, and what their answers are taken for."""
    counts, options = run.record["people"], run.record["options"]
    excluded = int(counts.get("excluded people", 0))
    rules = " ".join(text(rule) for rule in options["exclusions"]) or "None were declared."
    taken = {
        "pairs": "A prediction holds of an item if most of them chose the sentence that it favours; a tie does not hold.",
        "verdicts": "The log odds of rejection of a sentence took the place of its surprisal.",
        "ratings": "The mean rating of a sentence, with its sign changed, took the place of its surprisal.",
        "magnitudes": "The mean logarithm of the magnitudes of a sentence, its sign changed, took the place of its surprisal.",
        "times": "The mean time of a region took the place of its surprisal.",
    }[options["asks"]]
    kind = "simulated people" if counts.get("simulated people") else "people"
    return (
        f"{_name_model(run)}: {counts['people']:,} {kind} took part ({text(options['design'])}, each item in one condition; plan "
        f"`{options['plan'][:8]}`), of whom {excluded:,} were excluded by rules declared beforehand. {rules} {taken}"
    )


def _versions(suites: Sequence[SuiteRecord]) -> str:
    """Return how many suites were evaluated with different items, such as several samples; "" if none."""
    repeated = sum(count > 1 for count in Counter(suite.name for suite in suites).values())
    return f" ({repeated:,} of them with different items in different runs)" if repeated else ""


def _imported(run: Run) -> str:
    """Say which tool scored the sentences."""
    return (
        f"The sentences of {_name_model(run)} were scored with {text(run.record['options']['tool'])}; a pair counts as right if "
        "its good sentence has the higher sum of log-probabilities, and a tie counts as a failure."
    )


def _models(runs: Sequence[Run]) -> Iterator[str]:
    """Yield a sentence about each group of models that were asked in the same way, and what is said of each group alone."""
    asked: dict[tuple[str, str, str], list[Run]] = {}
    for run in runs:
        words = (
            _describe_asking(run),
            _cite(references.of_model(run)),
            text(families.taught(str(run.record["model"]["name"]))),
        )
        asked.setdefault(words, []).append(run)
    for (way, cited, taught), group in asked.items():
        yield f"For {join([*dict.fromkeys(map(_name_model, group))])}{cited} {way}."
        if taught:
            yield taught


def _name_model(run: Run) -> str:
    record = run.record["model"]["record"]
    details = [f"{record['architecture']} architecture"] if "architecture" in record else []
    details += [f"order {record['order']}"] if "order" in record else []
    details += [
        f"{name} {code(str(record[name])[:12])}" for name in ("revision", "weights", "hash") if record.get(name)
    ]
    details += [text(_words(run, "dtype"))] if "dtype" in settings_of(run) else []
    return code(run.model) + (f" ({', '.join(details)})" if details else "")


def _describe_asking(run: Run) -> str:
    """Say what came before and after a text under the model, and its other settings."""
    model, settings = run.record["model"], settings_of(run)
    before = f"{_code(str(model['start']))} preceded each text" if model["start"] else "nothing preceded a text"
    if "bos" in settings and (words := _words(run, "bos")) != settings["bos"]:
        before = words
    ends = (
        "the end-of-text symbol was scored, too" if settings.get("eos") == "yes" else "no end-of-text symbol was scored"
    )
    others = [f"{key} {code(value)}" for key, value in settings.items() if key not in ("bos", "eos", "dtype")]
    return f"{before} and {ends}" + (f"; {', '.join(others)}" if others else "")


def _measure(runs: Sequence[Run]) -> Iterator[str]:
    score = [run for run in runs if not references.fills_gaps(run)]
    ways = dict.fromkeys(map(references.scoring, runs))
    for way in sorted(ways, key=lambda way: way is not SURPRISAL):
        chosen = [run for run in runs if references.scoring(run) == way]
        cited = _cite([key for run in chosen for key in references.of_scoring(run) if key != references.GAPS])
        named = {
            setting: " or ".join(dict.fromkeys(_words(run, setting) for run in chosen)) for setting in way.settings
        }
        yield f"{way.words.format(**named)}{cited}."
    yield from map(_gaps, (run for run in runs if references.fills_gaps(run)))
    if not score:
        return
    kinds = dict.fromkeys(suite.aggregate for run in score for suite in run.suites)
    over_regions = any(map(_over_regions, score))
    unit = "region" if over_regions else "sentence"
    yield f"The value of a {unit} is the {' or '.join(kinds)} of the surprisals of its tokens, in bits."
    for rule in dict.fromkeys(run.rule for run in score) if over_regions else ():
        yield f"A token belongs to the region of its first visible character{_RULES[rule]}."
    suites = _suites(score)
    count = sum(len(suite.predictions) for suite in suites)
    limits = " or ".join(f"{tolerance:g}" for tolerance in dict.fromkeys(run.tolerance_in_bits for run in score))
    yield f"The suites make {counted(count, 'prediction')}{_shapes(suites)}."
    yield from _conventions(score)
    yield (
        f"A prediction holds of an item if its margin is above {limits} bits; smaller differences are ties and count as "
        f"{ties_of(score)}."
    )


def _shapes(suites: Sequence[SuiteRecord]) -> str:
    """Say what the predictions are: inequalities, equalities, conjunctions; "" if some have no formula that can be read."""
    formulas = [formula for suite in suites for formula in suite.predictions.values()]
    try:
        shapes = Counter(_SHAPES[parse(formula).tree.operator] for formula in formulas)
    except FormulaError:
        return ""
    if len(shapes) == 1:
        [shape] = shapes
        return f", each a{'n' if shape[0] in 'ei' else ''} {shape} between such values"
    plural = {shape: shape.replace("ity", "ities").replace("tion ", "tions ") for shape in shapes}
    listed = [f"{count:,} {plural[shape] if count > 1 else shape}" for shape, count in shapes.items()]
    return f": {join(listed)} between such values"


def _predicted(run: Run) -> bool:
    """Return whether a run has effects in bits: surprisals, and predictions about them."""
    return run.task.surprisals and run.task.conjoins and not references.fills_gaps(run)


def _conventions(runs: Sequence[Run]) -> Iterator[str]:
    """Yield a sentence about each convention but the sum of bits."""
    models: dict[str, list[Run]] = {}
    for run in runs:
        models.setdefault(convention_of(run), []).append(run)
    for name, judged in models.items():
        if name != DEFAULT:
            under = f" under {join([*dict.fromkeys(code(run.model) for run in judged)])}" if len(models) > 1 else ""
            said = f" ({words})" if (words := explain(name)) else ""
            yield (
                f"Where two whole sentences are compared, the convention was {code(name)}{said} instead of the sum of "
                f"bits{under}; ties were decided in bits, before any division."
            )


def _over_regions(run: Run) -> bool:
    """Return whether values of a run may be those of regions: unless all its formulas compare whole sentences."""
    formulas = [formula for suite in run.suites for formula in suite.predictions.values()]
    try:
        named = [parse(formula).references() for formula in formulas]
    except FormulaError:  # a measure that is no prediction has none, and a record may be of another version or damaged
        return True
    return not formulas or any(reference.region != "*" for of_formula in named for reference in of_formula)


def _gaps(run: Run) -> str:
    options = run.record["options"]
    cuts = [
        f"the {kind} {', '.join(f'{mass:g}' for mass in options[kind])} of the probability"
        for kind in ("top", "bottom")
        if options.get(kind)
    ]
    cut = f", at {' and '.join(cuts)}" if cuts else ""
    words = options["words"]
    named = f"{code(words['name'])} ({words['hash'][:8]}; eligible: {options['eligible']})"
    return (
        f"Where the two sentences of an item {_BLANKS[options['blank']]}, {code(run.model)} scored every form of the list "
        f"{named} in its place. TSE is the proportion of items whose grammatical word is the likelier one; equal weight is the "
        "proportion of the rows of the list whose fitting form is the likelier one, model weight is the proportion of the "
        f"probability of all forms that goes to fitting ones; both are averaged over distinct contexts{cut}"
        f"{_cite([references.GAPS])}."
    )


def _words(run: Run, setting: str) -> str:
    """Return the value of a scoring setting in words if the family has words for it, else the recorded value."""
    family, value = families.of_model(run.model), str(run.record["model"]["policies"][setting])
    return family.words(setting, value) if family else value


def _numbers(runs: Sequence[Run]) -> Iterator[str]:
    if not all(map(references.fills_gaps, runs)):
        yield (
            "The accuracy of a suite is the proportion of its items of which the prediction holds; a score over suites is the "
            "unweighted mean of the accuracies by the first prediction of each."
        )
    lemmas = (
        ", of equal and model weight for other contexts and lemmas" if any(map(references.fills_gaps, runs)) else ""
    )
    suites = (
        "for other items of the same suites"
        if bootstrap.current().suites == "fixed"
        else "for other suites, from the variance between suites, with Student's quantile"
    )
    yield (
        f"Intervals are 95% score intervals{_cite(_INTERVALS)}: on one suite for other items{lemmas}, over several suites "
        f"{suites}."
    )
    if any(map(_predicted, runs)):
        yield (
            "The effect of a comparison is the mean over items of the difference between its sides in bits. Its 95% interval for "
            f"other items is Student's, and contains that of Hall{_cite(_EFFECTS)} where differences are skewed; an effect is "
            "significant at the level of .05 if its interval excludes 0."
        )
    counts = list(filter(None, map(_ties, runs)))
    if counts:
        yield f"Under {'; under '.join(counts)}."
    begun = [code(run.model) for run in runs if not run.done]
    if begun:
        yield f"Not finished: {'the run' if len(begun) == 1 else 'the runs'} of {join(begun)}."
    if tests := _tests(runs):
        yield (
            f"Models were compared on the same items by McNemar's test{_cite(_COMPARISON[:1])}, asymptotic and without "
            f"continuity correction, with Tango's interval of the difference{_cite(_COMPARISON[1:2])}"
            + (
                f", adjusted over the suites by Holm's method{_cite(_COMPARISON[2:3])} and by that of Benjamini and "
                f"Hochberg{_cite(_COMPARISON[3:])}; over suites by a t-test on the suites' differences."
                if tests > 2
                else "."
            )
        )


def _ties(run: Run) -> str:
    """Count the ties and undefined verdicts under a model in words; "" if there are none."""
    defined = run.results().filter(pl.col("value").is_not_nan())
    ties, undefined = defined.filter(pl.col("margin").abs() <= run.tolerance).height, sum(run.undefined.values())
    tied = "was a tie" if ties == 1 else "were ties"
    if any(len(suite.predictions) > 1 for suite in run.suites):  # Scores are by the first one, and have fewer ties.
        tied = f"of all predictions {tied}"
    return (
        f"{code(run.model)} {counted(ties, 'verdict')} {tied} and {undefined:,} undefined" if ties or undefined else ""
    )


def _tests(runs: Sequence[Run]) -> int:
    """Return how many of the methods of `_COMPARISON` compare the models; adjustment is for several suites."""
    # Models are compared on the suites that they share. Runs of `syntagm fill` have no verdicts to compare.
    models: dict[tuple[str, str], set[str]] = {}
    for run in runs:
        for suite in () if references.fills_gaps(run) else run.suites:
            models.setdefault((suite.name, suite.hash), set()).add(run.record["model"]["fingerprint"])
    shared = sum(len(fingerprints) > 1 for fingerprints in models.values())
    return len(_COMPARISON) if shared > 1 else 2 * shared


def _software(runs: Sequence[Run]) -> str:
    versions = {f"Syntagm {run.record['versions']['syntagm']} [@syntagm]": None for run in runs}
    versions |= {f"Python {run.record['versions']['python']}": None for run in runs}
    for run in runs:
        family, record = families.of_model(run.model), run.record["model"]["record"]
        for program in family.programs if family else ():
            versions |= {f"{program.name} {record[program.key]}": None} if record.get(program.key) else {}
    return f"Numbers were computed with {', '.join(versions)}."


def _list_suites(suites: Sequence[SuiteRecord]) -> Iterator[str]:
    samples = [sample_of(suite.tags) for suite in suites]
    # A single seed of all samples is in the first paragraph.
    seeds = {sample.seed for sample in samples if sample}
    for suite, sample in zip(suites, samples, strict=True):
        size = f"{sample.items:,} of {counted(sample.of, 'item')}" if sample else counted(suite.items, "item")
        drawn = f", drawn with seed {sample.seed}" if sample and len(seeds) > 1 else ""
        # A suite made from a template has a seed if its items were drawn.
        made = f", made with seed {text(suite.tags['seed'])}" if "seed" in suite.tags else ""
        yield f"{code(suite.name)} ({suite.hash[:8]}, {size}{drawn}{made})"


_AUTHORS = re.compile(r"author = \{(.+)\},")
_YEAR = re.compile(r"year = \{(\d+)\}")
_ACCENT = re.compile(r'\{\\"([a-zA-Z])\}')
_PIECE = re.compile(r"( \[@[\w; @-]+\]|`[^`]*`)")
_UMLAUTS = dict(zip("aouAOU", "äöüÄÖÜ", strict=True))


@dataclass(frozen=True, slots=True)
class MethodsText:
    paragraphs: tuple[Markup, ...]  # the paragraphs, as HTML
    bibliography: str  # everything that they cite, as BibTeX
    unknown: tuple[str, ...]  # a sentence for each suite whose source is not known


def methods_text(runs: Sequence[Run]) -> MethodsText:
    shown = tuple(map(paragraph_html, paragraphs(runs)))
    bibliography = references.bibtex(keys(runs), runs, extras.version("syntagm"))
    return MethodsText(shown, bibliography, tuple(list_unknown_sources(runs)))


def paragraph_html(paragraph: str) -> Markup:
    r"""Convert a paragraph of `methods` to HTML, escaping everything in it.

    >>> paragraph_html("Surprisal [@hale-2001-probabilistic; @marvin-linzen-2018-targeted] of `a<b`, \\*all\\*.")
    Markup('Surprisal (Hale 2001; Marvin &amp; Linzen 2018) of <code><bdi>a&lt;b</bdi></code>, *all*.')
    """
    return Markup("").join(map(_piece, _PIECE.split(paragraph)))


def _piece(piece: str) -> Markup:
    if piece.startswith(" [@"):
        known = [key for key in re.findall(r"@([\w-]+)", piece) if key in references.entries()]
        return Markup(" (%s)") % "; ".join(map(short, known)) if known else Markup("")
    if piece.startswith("`"):
        return Markup("<code><bdi>%s</bdi></code>") % piece[1:-1]
    return escape(re.sub(r"\\(.)", r"\1", piece))


def short(key: str) -> str:
    """Return the authors and the year of an entry in the bibliography, as cited in a text.

    >>> short("hu-etal-2020-systematic"), short("kneser-ney-1995-improved"), short("hochreiter-schmidhuber-1997-long")
    ('Hu et al. 2020', 'Kneser & Ney 1995', 'Hochreiter & Schmidhuber 1997')
    """
    entry = references.entries()[key]
    authors, year = _AUTHORS.search(entry), _YEAR.search(entry)
    names = _ACCENT.sub(lambda match: _UMLAUTS.get(match[1], match[1]), authors[1] if authors else key).split(" and ")
    surnames = [name.partition(",")[0] for name in names]
    cited = f"{surnames[0]} et al." if len(surnames) > 2 or "others" in surnames else " & ".join(surnames)
    return f"{cited} {year[1]}" if year else cited
