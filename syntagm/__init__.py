"""Syntagm: targeted syntactic evaluation of language models.

    read_suites        read suites from files, folders, patterns and bundled collections
    make               generate suites from templates
    check_suites       find what is wrong with suites
    write_suites       write suites to a file
    load_model         load a language model by its name
    from_transformers  use a transformers model that is in memory
    evaluate           evaluate a model on suites in memory
    score_text         the surprisal of each token or word of a text, of texts or of a file
    perplexity         the perplexity of a model on texts
    run_suites         evaluate a model on suites and write a run directory, or resume its run
    fill               fill the gaps of suites with a word list
    open_run           open a run directory
    estimate           the accuracies and scores of a run, with intervals
    compare            compare two runs item by item
    table, figure      make a table or a figure from runs
    write_report       write one HTML page about one or more runs
    Trajectory, EvaluationCallback    evaluate a model while it is trained

The other names are types: the parts of a suite, the answers of a model, the results, and the exceptions.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from syntagm.core import (
        AlignmentError,
        FormulaError,
        InputError,
        Interrupted,
        ModelError,
        Progress,
        RunError,
        SyntagmError,
        UsageError,
    )
    from syntagm.evaluation import Estimate, Group, Measure, Result, score_text
    from syntagm.evaluation.text_perplexity import perplexity
    from syntagm.models import Fill, Gap, LanguageModel, Surprisals, from_transformers
    from syntagm.models.names import load as load_model
    from syntagm.report import report as write_report
    from syntagm.runs import Run, fill, open_run, run_suites
    from syntagm.runs.evaluate import evaluate
    from syntagm.stats import Resampling
    from syntagm.suites import (
        Formula,
        Item,
        Prediction,
        Region,
        Sentence,
        Suite,
        WordList,
        WordRow,
        make,
        parse as parse_formula,
        read_suites,
        write_suites,
    )
    from syntagm.views import EvaluationCallback, Figure, Table, Trajectory, check_suites, compare, figure
    from syntagm.views.by_name import table
    from syntagm.views.estimates import estimates as estimate

    __version__: str

# The module that defines each public name. It is imported on first use, so that the command line starts at once.
_HOMES = {
    "AlignmentError": "core.errors:AlignmentError",
    "Estimate": "evaluation.result:Estimate",
    "EvaluationCallback": "views.in_training.callback:EvaluationCallback",
    "Figure": "views.drawing.chart:Figure",
    "Fill": "models.answers:Fill",
    "Formula": "suites.formula:Formula",
    "FormulaError": "core.errors:FormulaError",
    "Gap": "models.answers:Gap",
    "Group": "evaluation.result:Group",
    "InputError": "core.errors:InputError",
    "Interrupted": "core.errors:Interrupted",
    "Item": "suites.suite:Item",
    "LanguageModel": "models.contract:LanguageModel",
    "Measure": "evaluation.measure:Measure",
    "ModelError": "core.errors:ModelError",
    "Prediction": "suites.suite:Prediction",
    "Progress": "core.progress:Progress",
    "Region": "suites.suite:Region",
    "Resampling": "stats.bootstrap:Resampling",
    "Result": "evaluation.result:Result",
    "Run": "runs.store:Run",
    "RunError": "core.errors:RunError",
    "Sentence": "suites.suite:Sentence",
    "Suite": "suites.suite:Suite",
    "Surprisals": "models.answers:Surprisals",
    "SyntagmError": "core.errors:SyntagmError",
    "Table": "views.drawing.table:Table",
    "Trajectory": "views.in_training.trajectory:Trajectory",
    "UsageError": "core.errors:UsageError",
    "WordList": "suites.word_list:WordList",
    "WordRow": "suites.word_list:WordRow",
    "check_suites": "views.checking:check_suites",
    "compare": "views.comparison:compare",
    "estimate": "views.estimates:estimates",
    "evaluate": "runs.evaluate:evaluate",
    "figure": "views.by_name:figure",
    "fill": "runs.evaluate:fill",
    "from_transformers": "models.in_memory:from_transformers",
    "load_model": "models.names:load",
    "make": "suites.materials.suite_files:make",
    "open_run": "runs.store:open_run",
    "parse_formula": "suites.formula:parse",
    "perplexity": "evaluation.text_perplexity:perplexity",
    "read_suites": "suites.materials.suite_files:read_suites",
    "run_suites": "runs.evaluate:run_suites",
    "score_text": "evaluation.texts:score_text",
    "table": "views.by_name:table",
    "write_report": "report.page:report",
    "write_suites": "suites.materials.conversion:write_suites",
}
__all__ = [
    "AlignmentError",
    "Estimate",
    "EvaluationCallback",
    "Figure",
    "Fill",
    "Formula",
    "FormulaError",
    "Gap",
    "Group",
    "InputError",
    "Interrupted",
    "Item",
    "LanguageModel",
    "Measure",
    "ModelError",
    "Prediction",
    "Progress",
    "Region",
    "Resampling",
    "Result",
    "Run",
    "RunError",
    "Sentence",
    "Suite",
    "Surprisals",
    "SyntagmError",
    "Table",
    "Trajectory",
    "UsageError",
    "WordList",
    "WordRow",
    "check_suites",
    "compare",
    "estimate",
    "evaluate",
    "figure",
    "fill",
    "from_transformers",
    "load_model",
    "make",
    "open_run",
    "parse_formula",
    "perplexity",
    "read_suites",
    "run_suites",
    "score_text",
    "table",
    "write_report",
    "write_suites",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("importlib.metadata").version("syntagm")
    if name not in _HOMES:
        name = import_module("syntagm.core.renames").current("python", name, _HOMES)
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, _, attribute = _HOMES[name].partition(":")
    return getattr(import_module(f"{__name__}.{module}"), attribute)


def __dir__() -> list[str]:
    return list(__all__)
