"""Perplexity of a model on text: per word between blanks, the end of each sentence a word, with and without unknown words.

FILE holds one sentence a line (.txt, .txt.gz) or bracketed trees (.trees, .mrg, .ptb), or is bllip:FOLDER?set=test. Each
sentence is scored on its own; a blank line is none. Words are the same whatever a model's tokens are, so that models can be
compared on a file.

    syntagm perplexity models/5gram test.txt
    syntagm perplexity models/gpt2 test.txt --json
    syntagm perplexity random test.txt --no-end               for models that score no end of a sentence

Exit code 1: words without bits were left out; how many is said.
"""

import argparse
import json
import sys
from typing import TYPE_CHECKING

from syntagm.cli import _model
from syntagm.errors import UsageError
from syntagm.io.json import finite

if TYPE_CHECKING:
    from syntagm.models.contract import LanguageModel
    from syntagm.tasks.perplexity import Perplexity


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    _model.arguments(parser)
    parser.add_argument(
        "files", metavar="FILE", nargs="+", help="text, one sentence a line, or trees; all are one text"
    )
    parser.add_argument("--no-end", action="store_true", help="leave the ends of sentences out")
    parser.add_argument("--json", action="store_true", help="a JSON object instead of lines")


def run(arguments: argparse.Namespace) -> int:
    """Count the sentences, load the model, score, and print."""
    from syntagm.cli._screen import Screen
    from syntagm.tasks.perplexity import division, perplexity
    from syntagm.training.corpora import corpus

    # Whatever is wrong with the text is said before a model is loaded.
    sentences = sum(1 for _ in corpus.texts(arguments.files))
    asked = division(arguments.model, arguments.files)
    model = _load(arguments, **asked)
    if asked:
        how = {"blanks": "split into words already and taken as it stands", "treebank": "divided as the Treebank"}
        print(f"the text is {how[asked['tokens']]}", file=sys.stderr)
    if model.sees == "both":
        print(
            "pseudo-perplexity: each word has both sides of the text to go by; compare it with its like only",
            file=sys.stderr,
        )
    with Screen() as screen:
        screen.planned(sentences, 0, len(arguments.files), "file")
        texts = corpus.texts(arguments.files)
        found = perplexity(model, texts, not arguments.no_end, lambda more: screen.answered("", more))
    print(
        json.dumps(_keys(model, found), ensure_ascii=False)
        if arguments.json
        else _shown(model, found, not arguments.no_end)
    )
    return 1 if found.undefined else 0


def _load(arguments: argparse.Namespace, **asked: str) -> "LanguageModel":
    """The model, told to list its end symbol unless its name or the command line says otherwise."""
    from syntagm.models import names as _name

    cure = "Leave the ends of sentences out with --no-end; compare such numbers with their like only."
    if arguments.no_end or "eos" in _name.parse(arguments.model).options:
        model = _model.load(arguments, **asked)
    else:
        try:
            model = _model.load(arguments, eos="yes", **asked)
        except UsageError as error:
            if "eos" not in f"{error.place} {error.found}":
                raise
            found = f"it can't score the end of a sentence ({error.place}: {error.found})"
            raise UsageError(f"model {arguments.model}", found, "a model that can", cure) from error
    if model.eos is None and not arguments.no_end:
        raise UsageError(f"model {arguments.model}", "the end of a sentence is not scored", "eos=yes", cure)
    return model


def _keys(model: "LanguageModel", found: "Perplexity") -> dict[str, object]:
    """What --json says; what is no finite number is null."""
    names = ("texts", "words", "unknown", "undefined", "characters", "bits", "bits_per_word", "perplexity")
    numbers = {name: getattr(found, name) for name in (*names, "perplexity_known", "bits_per_character")}
    return {"model": model.name, "policies": dict(model.settings), **finite(numbers)}


def _shown(model: "LanguageModel", found: "Perplexity", ends: bool) -> str:
    policies = " ".join(f"{key}:{value}" for key, value in model.settings.items())
    lines = [
        f"{model.name}   {policies}",
        f"words               {found.words:,}, of them {found.texts:,} ends of sentences"
        if ends
        else f"words               {found.words:,}, no ends of sentences",
        f"unknown             {found.unknown:,}",
        f"bits a word         {found.bits_per_word:.4f}",
        f"perplexity          {found.perplexity:.2f}",
        f"... of known words  {found.perplexity_known:.2f}",
        f"bits a character    {found.bits_per_character:.4f}",
    ]
    if found.undefined:
        lines.append(
            f"left out            {found.undefined:,} words without bits: nothing before them, or too long a text"
        )
    return "\n".join(lines)
