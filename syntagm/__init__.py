"""Syntagm: targeted syntactic evaluation of language models.

    read_suites   the suites of files, folders, patterns and bundled collections
    check_suites  what is wrong with them
    load_model    a language model by its name
    run_suites    suites through a model into a run directory, or on with the run that stands there
    open_run      a run directory, to look at
    estimate      its accuracies and scores, with intervals
    write_report  one or more runs as one HTML page

The other names are types: what a suite is made of, what a model answers, what comes out, and what can go wrong.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from syntagm.answers import Surprisals
    from syntagm.check import check as check_suites
    from syntagm.errors import AlignmentError, FormulaError, InputError, ModelError, RunError, SyntagmError, UsageError
    from syntagm.formula import Formula
    from syntagm.formula import parse as parse_formula
    from syntagm.materials.suite_files import read_all as read_suites
    from syntagm.models.contract import LanguageModel
    from syntagm.models.names import load as load_model
    from syntagm.report.page import report as write_report
    from syntagm.result import Estimate, Group, Result
    from syntagm.runs.evaluate import run as run_suites
    from syntagm.runs.store import Run, open_run
    from syntagm.suite import Item, Prediction, Region, Sentence, Suite
    from syntagm.views.scores.numbers import estimates as estimate

# Where each public name is at home. It is imported on first use, so that the command line starts at once.
_HOMES = {
    "AlignmentError": "errors:AlignmentError",
    "Estimate": "result:Estimate",
    "Formula": "formula:Formula",
    "FormulaError": "errors:FormulaError",
    "Group": "result:Group",
    "InputError": "errors:InputError",
    "Item": "suite:Item",
    "LanguageModel": "models.contract:LanguageModel",
    "ModelError": "errors:ModelError",
    "Prediction": "suite:Prediction",
    "Region": "suite:Region",
    "Result": "result:Result",
    "Run": "runs.store:Run",
    "RunError": "errors:RunError",
    "Sentence": "suite:Sentence",
    "Suite": "suite:Suite",
    "Surprisals": "answers:Surprisals",
    "SyntagmError": "errors:SyntagmError",
    "UsageError": "errors:UsageError",
    "check_suites": "check:check",
    "estimate": "views.scores.numbers:estimates",
    "load_model": "models.names:load",
    "open_run": "runs.store:open_run",
    "parse_formula": "formula:parse",
    "read_suites": "materials.suite_files:read_all",
    "run_suites": "runs.evaluate:run",
    "write_report": "report.page:report",
}
__all__ = [
    "AlignmentError",
    "Estimate",
    "Formula",
    "FormulaError",
    "Group",
    "InputError",
    "Item",
    "LanguageModel",
    "ModelError",
    "Prediction",
    "Region",
    "Result",
    "Run",
    "RunError",
    "Sentence",
    "Suite",
    "Surprisals",
    "SyntagmError",
    "UsageError",
    "check_suites",
    "estimate",
    "load_model",
    "open_run",
    "parse_formula",
    "read_suites",
    "run_suites",
    "write_report",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, _, attribute = _HOMES[name].partition(":")
    return getattr(import_module(f"{__name__}.{module}"), attribute)
