"""Compute the perplexity of a model on text.

The perplexity is per word, with and without unknown words. FILE has one sentence per line
(.txt, .txt.gz) or bracketed trees (.trees, .mrg, .ptb), or is bllip:FOLDER?set=test. Each
sentence is scored separately; empty lines are skipped. For every model, words are separated
by white space, and the end of each sentence counts as a word.

Perplexities on the same file can be compared if the models know the same words: to a model with
a small vocabulary, many words are the same unknown one, which is easy to guess. --model adds
models, and the perplexity over the words that all of them know (perplexity_shared).

    syntagm perplexity models/5gram test.txt
    syntagm perplexity models/5gram test.txt --model models/gpt2
    syntagm perplexity models/gpt2 test.txt --json
    syntagm perplexity random test.txt --no-end               for models that can't score the end of a sentence

Exit code 1: some words have no bits and were skipped; the output gives their number.
"""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from syntagm.cli import _options
from syntagm.core import UsageError, finite, shown_lines

if TYPE_CHECKING:
    from syntagm.core import Permissions
    from syntagm.evaluation import Perplexity
    from syntagm.models import LanguageModel


def arguments(parser: argparse.ArgumentParser) -> None:
    _options.add_models(parser)
    parser.add_argument(
        "files",
        metavar="FILE",
        nargs="+",
        help="text with one sentence per line, or trees; several files count as one text",
    )
    parser.add_argument(
        "--model", metavar="MODEL", action="append", default=[], dest="others", help="one more model; may be repeated"
    )
    parser.add_argument("--no-end", action="store_true", help="don't score the ends of sentences")
    parser.add_argument("--json", action="store_true", help="print a JSON object for each model, a line each")


def run(arguments: argparse.Namespace) -> int:
    from syntagm.cli._screen import Screen
    from syntagm.evaluation import division, perplexities
    from syntagm.training import corpus

    # Errors in the text are reported before a model is loaded.
    sentences = sum(1 for _ in corpus.texts(arguments.files))
    names = [arguments.model, *arguments.others]
    if repeated := [name for at, name in enumerate(names) if name in names[:at]]:
        raise UsageError("--model", f"{repeated[0]} twice", "different models")
    models = _load_all(arguments, {name: division(name, arguments.files) for name in names})
    with Screen() as screen:
        screen.planned(sentences * len(models), 0, len(arguments.files), "file")
        texts = corpus.texts(arguments.files)
        found = perplexities(models, texts, not arguments.no_end, lambda count: screen.answered("", count))
    results = [*zip(models, found, strict=True)]
    several = len(models) > 1
    if arguments.json:
        shown = [json.dumps(_keys(model, result, several), ensure_ascii=False) for model, result in results]
    else:
        shown = [_shown(model, result, not arguments.no_end, several) for model, result in results]
    print(("\n" if arguments.json else "\n\n").join(shown))
    if warning := _unlike(results):
        print(shown_lines(warning), file=sys.stderr)
    return 1 if any(result.undefined for result in found) else 0


def _load_all(arguments: argparse.Namespace, text_options: "Mapping[str, Mapping[str, str]]") -> "list[LanguageModel]":
    """Load the models, and say how the text is divided into words for them."""
    models = []
    for name, options in text_options.items():
        model = _load(name, _options.given_permissions(arguments), not arguments.no_end, options)
        before = f"{name}: " if len(text_options) > 1 else ""
        if options:
            how = {
                "blanks": "already divided into words, and is split at white space",
                "treebank": "divided into words as in the Penn Treebank",
            }
            print(f"{before}the text is {how[options['tokens']]}", file=sys.stderr)
        if model.sees == "both":
            print(
                f"{before}pseudo-perplexity: the model sees both sides of each word; compare it only with other "
                "pseudo-perplexities",
                file=sys.stderr,
            )
        models.append(model)
    return models


def _unlike(results: "Sequence[tuple[LanguageModel, Perplexity]]") -> str:
    """Return a warning about perplexities that are not of the same words; "" if they are."""
    shown = [
        f"{model.name} {result.unknown / result.words:.1%}"
        + (f" (and {result.undefined:,} words without bits)" if result.undefined else "")
        for model, result in results
        if result.words
    ]
    first = results[0][1]
    if all(result.known == first.shared and (len(results) > 1 or not result.unknown) for _, result in results):
        return ""
    why = (
        "`perplexity` and that of known words are over different words; compare the one over the "
        f"{first.shared:,} words that all models know"
        if len(results) > 1
        else "Neither perplexity can be compared with those of models that know other words; --model MODEL adds the one over "
        "the words that both know"
    )
    return f"warning: unknown words: {', '.join(shown)}. {why}"


def _load(text: str, permissions: "Permissions", ends: bool, text_options: Mapping[str, str]) -> "LanguageModel":
    """Load the model with eos=yes, unless --no-end or an eos option in its name overrides it."""
    from syntagm.models import families, names

    name = names.parse(text)
    # Programs say themselves whether they score it.
    optional = "eos" in families.find(name.family).options
    cure = "Skip the ends of sentences with --no-end; compare the result only with other perplexities without sentence ends."
    expected = "eos=yes" if optional else "a model that scores it"
    unscored = UsageError(f"model {text}", "the end of a sentence is not scored", expected, cure)
    end = {"eos": "yes"} if optional and ends and "eos" not in name.options else {}
    try:
        if ends and names.declared(text, end).settings.get("eos") == "no":
            raise unscored
        model = _options.load(text, permissions, ["score"], **end, **text_options)
    except UsageError as error:
        if not end or "eos" not in f"{error.place} {error.found}":
            raise
        problem = f"it can't score the end of a sentence ({error.place}: {error.found})"
        raise UsageError(f"model {text}", problem, "a model that can", cure) from error
    if model.eos is None and ends:
        raise unscored
    return model


def _keys(model: "LanguageModel", result: "Perplexity", several: bool) -> dict[str, object]:
    """Return the object that --json prints; numbers that are not finite are null."""
    names = "texts words unknown undefined characters bits bits_per_word perplexity perplexity_known bits_per_character"
    keys = [*names.split(), *(["perplexity_shared"] if several else [])]
    numbers = {name: getattr(result, name) for name in keys}
    return {"model": model.name, "policies": dict(model.settings), **finite(numbers)}


def _shown(model: "LanguageModel", result: "Perplexity", ends: bool, several: bool) -> str:
    settings = " ".join(f"{key}:{value}" for key, value in model.settings.items())
    lines = [
        f"{model.name}   {settings}",
        f"words               {result.words:,}, including {result.texts:,} ends of sentences"
        if ends
        else f"words               {result.words:,}, without ends of sentences",
        f"unknown             {result.unknown:,}"
        + (f" ({result.unknown / result.words:.1%})" if result.unknown else ""),
        f"bits per word       {result.bits_per_word:.4f}",
        f"perplexity          {result.perplexity:.2f}",
        f"... of known words  {result.perplexity_known:.2f}",
        f"bits a character    {result.bits_per_character:.4f}",
    ]
    if several:
        lines.append(f"... of shared words {result.perplexity_shared:.2f}")
    if result.undefined:
        lines.append(
            f"skipped             {result.undefined:,} words without bits: first in the text, or in a text that is too long"
        )
    return "\n".join(lines)
