"""Check that a model keeps the promises on which results rest.

MODEL is any model, as in `syntagm run`: one of another package, or a program of your own
(exec:FILE.toml, python:FILE.py).

    syntagm conform demo
    syntagm conform exec:model.toml --allow-exec
    syntagm conform gpt2 --file sentences.txt

Each line is a promise: that answers come in order and don't depend on other texts, that tokens
partition the text, that a prefix has the same bits as the beginning of a longer text, that the
probabilities of the words that a model lists sum to 1, and so on. `-` marks what the model does
not promise, with the reason. The model is asked about a few odd texts (the empty one, emoji, tabs,
unknown words), or about the lines of FILE.

Exit code 1: a promise is broken.
"""

import argparse
import sys
from pathlib import Path

from syntagm.cli import _options
from syntagm.core import UsageError, shown

# Failures of a check that are printed.
_PRINTED = 3


def arguments(parser: argparse.ArgumentParser) -> None:
    _options.add_models(parser)
    parser.add_argument("--file", metavar="FILE", type=Path, help="ask about the lines of this file")


def run(arguments: argparse.Namespace) -> int:
    from syntagm.models import conformance
    from syntagm.training import corpus

    texts = list(corpus.texts([arguments.file])) if arguments.file else conformance.TEXTS
    if not texts:
        raise UsageError("--file", f"no sentences in {arguments.file}", "at least one")
    # What the model can do is among the promises.
    model = _options.load(arguments.model, _options.given_permissions(arguments), queries=())
    kind = "exact" if model.exact else "approximate"
    settings = " ".join(f"{key}:{value}" for key, value in model.settings.items())
    print(shown(f"{model.name}   {settings}   {kind}, sees: {model.sees}"))
    broken = 0
    for check in conformance.CHECKS:
        if reason := check.exempt(model):
            print(shown(f"-     {check.name:<12} not promised: {reason}"))
            continue
        failures = conformance.failures(check, model, texts)
        broken += bool(failures)
        print(f"{'FAIL' if failures else 'ok':<5} {check.name:<12} {check.promise}")
        for failure in failures[:_PRINTED]:
            print(shown(f"{'':<19}{failure}"))
        if (more := len(failures) - _PRINTED) > 0:
            print(f"{'':<19}and {more:,} more")
    if broken:
        print(f"syntagm: {broken} of {len(conformance.CHECKS)} promises are broken", file=sys.stderr)
    return 1 if broken else 0
