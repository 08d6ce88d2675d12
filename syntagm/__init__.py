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
    from syntagm.answers import Fill, Gap, Surprisals
    from syntagm.drawing.chart import Figure
    from syntagm.drawing.table import Table
    from syntagm.errors import (
        AlignmentError,
        FormulaError,
        InputError,
        Interrupted,
        ModelError,
        RunError,
        SyntagmError,
        UsageError,
    )
    from syntagm.formula import Formula
    from syntagm.formula import parse as parse_formula
    from syntagm.in_training.callback import EvaluationCallback
    from syntagm.in_training.trajectory import Trajectory
    from syntagm.materials.checking import check_suites
    from syntagm.materials.conversion import write_suites
    from syntagm.materials.suite_files import make, read_suites
    from syntagm.models.contract import LanguageModel
    from syntagm.models.in_memory import from_transformers
    from syntagm.models.names import load as load_model
    from syntagm.progress import Progress
    from syntagm.report.page import report as write_report
    from syntagm.result import Estimate, Group, Result
    from syntagm.runs.evaluate import evaluate, fill, run_suites
    from syntagm.runs.store import Run, open_run
    from syntagm.stats.bootstrap import Resampling
    from syntagm.suite import Item, Prediction, Region, Sentence, Suite
    from syntagm.tasks.measure import Measure
    from syntagm.tasks.perplexity import perplexity
    from syntagm.tasks.texts import score_text
    from syntagm.views import figure, table
    from syntagm.views.comparison import compare
    from syntagm.views.scores.numbers import estimates as estimate
    from syntagm.word_list import WordList, WordRow

    __version__: str

# The module that defines each public name. It is imported on first use, so that the command line starts at once.
_HOMES = {
    "AlignmentError": "errors:AlignmentError",
    "Estimate": "result:Estimate",
    "EvaluationCallback": "in_training.callback:EvaluationCallback",
    "Figure": "drawing.chart:Figure",
    "Fill": "answers:Fill",
    "Formula": "formula:Formula",
    "FormulaError": "errors:FormulaError",
    "Gap": "answers:Gap",
    "Group": "result:Group",
    "InputError": "errors:InputError",
    "Interrupted": "errors:Interrupted",
    "Item": "suite:Item",
    "LanguageModel": "models.contract:LanguageModel",
    "Measure": "tasks.measure:Measure",
    "ModelError": "errors:ModelError",
    "Prediction": "suite:Prediction",
    "Progress": "progress:Progress",
    "Region": "suite:Region",
    "Resampling": "stats.bootstrap:Resampling",
    "Result": "result:Result",
    "Run": "runs.store:Run",
    "RunError": "errors:RunError",
    "Sentence": "suite:Sentence",
    "Suite": "suite:Suite",
    "Surprisals": "answers:Surprisals",
    "SyntagmError": "errors:SyntagmError",
    "Table": "drawing.table:Table",
    "Trajectory": "in_training.trajectory:Trajectory",
    "UsageError": "errors:UsageError",
    "WordList": "word_list:WordList",
    "WordRow": "word_list:WordRow",
    "check_suites": "materials.checking:check_suites",
    "compare": "views.comparison:compare",
    "estimate": "views.scores.numbers:estimates",
    "evaluate": "runs.evaluate:evaluate",
    "figure": "views:figure",
    "fill": "runs.evaluate:fill",
    "from_transformers": "models.in_memory:from_transformers",
    "load_model": "models.names:load",
    "make": "materials.suite_files:make",
    "open_run": "runs.store:open_run",
    "parse_formula": "formula:parse",
    "perplexity": "tasks.perplexity:perplexity",
    "read_suites": "materials.suite_files:read_suites",
    "run_suites": "runs.evaluate:run_suites",
    "score_text": "tasks.texts:score_text",
    "table": "views:table",
    "write_report": "report.page:report",
    "write_suites": "materials.conversion:write_suites",
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
        name = import_module("syntagm.renames").current("python", name, _HOMES)
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, _, attribute = _HOMES[name].partition(":")
    return getattr(import_module(f"{__name__}.{module}"), attribute)


def __dir__() -> list[str]:
    return list(__all__)
