"""Plan a study: how often would it find a difference, by simulation from a pilot.

    syntagm power runs/demo runs/gpt2                              two models; suites and items
    syntagm power runs/demo runs/gpt2 suites=10,20,40 items=30 difference=0.05
    syntagm power runs/lstm-* runs/rnng-* classes=lstm,lstm,rnng,rnng models=2,3,5,10
    syntagm power --people pilot.csv items=24,48 judgements=5,10,20
    syntagm power --people runs/people judgements=10,20,40         answers that were imported
    syntagm power runs/demo runs/gpt2 -o plans/power               table and curves as files

Each number of suites, items, models or judgements gives a row with the power: the
proportion of 1,000 simulated studies whose test has p <= 0.05, with the 95% interval of the
simulation's error. The studies vary as the pilot does, and are tested as every comparison
is (--suites random or fixed). Without difference=, the difference of the pilot is taken for
the true one; after a small pilot, state the smallest difference that matters instead.

With classes=, which names the class of each run, models are random, too: models= is the
number of models of each class, for example of seeds. A pilot needs two models of each.

--people reads the run of `syntagm experiment import` (choices of the favoured sentence, or the
two conditions of the first comparison), or judgements: a CSV file with the columns person, item, value (0, 1 or a
rating) and, for a difference between two conditions, condition. A file in which all values
are 0 or 1 contains choices, any other ratings. Without conditions, the mean is compared
with --against. judgements= is the number of judgements of each item.

With -o, the table is written to STEM.csv, STEM.md and STEM.tex, and the curves to
STEM-curve.csv, STEM-curve.png and so on. `syntagm table power` and `syntagm figure power`
make the same from runs. Existing files are replaced only if they have the header of this
table; --force replaces any file. Exit code 1: a pilot run is not finished.
"""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from syntagm.cli import _files, _options, _views
from syntagm.core import UsageError

if TYPE_CHECKING:
    from syntagm.runs import Run
    from syntagm.stats import Judgements
    from syntagm.views import Figure, Table


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("runs", metavar="DIR", nargs="*", help="pilot runs, then options: key=value")
    _views.add_names(parser)
    parser.add_argument(
        "--people", metavar="FILE", type=Path, help="a pilot of people: a run of people, or judgements as CSV"
    )
    parser.add_argument(
        "--against",
        metavar="X",
        help="what the mean of the judgements is compared with (0.5 for judgements of 0 and 1)",
    )
    _views.add_convention(parser)
    _options.add_intervals(parser)
    _files.add_output(parser, "STEM", "path of the files, without extension; if omitted, the table is printed")
    _files.add_force(parser)


def run(options: argparse.Namespace) -> int:
    from syntagm.stats import bootstrap

    if options.against is not None and not options.people:
        raise UsageError("--against", "no --people", "--people FILE")
    if options.people and options.convention:
        raise UsageError("--convention", f"{options.convention} with --people", "pilot runs of models")
    folders, chosen = _views.split(options.runs)
    with bootstrap.using(_options.given_resampling(options)):
        if options.people:
            table, figure, code = _of_people(options.people, options.against, folders, chosen)
        else:
            runs = _views.under(_views.open_runs(folders, options.labels), options.convention)
            table, figure, code = _of_runs(runs, chosen)
    if options.output:
        print(*_files.save(table, options.output, force=options.force), sep="\n")
        curve = options.output.with_name(f"{options.output.name}-curve")
        print(*_files.save(figure, curve, force=options.force), sep="\n")
    else:
        print(table.content("md").decode(), end="")
    return code


def _of_runs(runs: "list[Run]", chosen: Mapping[str, str]) -> "tuple[Table, Figure, int]":
    """Plan from pilot runs; the options are those of the view."""
    from syntagm.views import call, described, power

    plan = call(power.of_runs, runs, chosen, "power")
    made, curves = (described(each, runs) for each in (power.table(plan), power.draw(plan)))
    return made, curves, _views.exit_code(runs)


def _of_people(
    file: Path, opposed: str | None, folders: Sequence[str], chosen: Mapping[str, str]
) -> "tuple[Table, Figure, int]":
    from syntagm.stats import planning
    from syntagm.views import power, read_judgements

    if folders:
        raise UsageError("power", f"{folders[0]} and --people", "runs of models or judgements of people")
    readers = {"items": power.read_sizes, "judgements": power.read_sizes, "difference": power.read_difference}
    if unknown := [name for name in chosen if name not in readers]:
        raise UsageError("power", f"no option {unknown[0]!r} for people", ", ".join(f"{name}=" for name in readers))
    sizes: dict[str, Any] = {name: readers[name](text) for name, text in chosen.items()}
    pilot = read_judgements(file)
    against = _against(opposed, pilot)
    names = pilot.names if pilot.second is not None else (f"{against:g}", "mean")
    plan = power.of_people(planning.People(pilot, against), names, **sizes)
    return power.table(plan, power.PEOPLE), power.draw(plan), 0


def _against(text: str | None, judged: "Judgements") -> float:
    """Return the number that the mean of the judgements is compared with."""
    from syntagm.evaluation import Kind

    if judged.second is not None:
        if text is not None:
            raise UsageError("--against", "a file with two conditions", "no --against, or a file without conditions")
        return 0.0
    if text is None and judged.kind is not Kind.VERDICT:
        raise UsageError("--against", "missing for ratings", "the rating that the mean is compared with")
    try:
        return 0.5 if text is None else float(text)
    except ValueError:
        raise UsageError("--against", repr(text), "a number") from None
