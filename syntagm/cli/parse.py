"""Parse sentences with a model, and print bracketed trees.

Only some models give trees. Those of the family rnng find the most probable one by their beam
search. Those of the family onlstm induce one: a large distance between two words begins a new
constituent, whose label is always X. Each TEXT is a sentence; `-` reads sentences from standard
input, one per line. FILE has one sentence per line, or bracketed trees (.trees, .mrg, .ptb). The
words of trees are parsed, and a message gives precision, recall and F1 of the constituents: of
all, with their labels if the model gives labels, and without labels of those that have several
words, but not all.

    syntagm parse models/rnng "The keys to the cabinet are here ."
    syntagm parse 'models/onlstm?layer=1' --file test.txt
    syntagm parse 'models/rnng?beam=200' --prefixes "The horse raced past the barn fell ."
    syntagm parse models/rnng --file test.trees > parsed.trees

With --prefixes, there is a line for each word of a sentence: the best tree of the sentence up to
this word, with open constituents closed. The last one is the tree of the sentence.

Exit code 1: some sentences have no tree. Their lines are empty.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from syntagm.cli import _options, _streams

if TYPE_CHECKING:
    from syntagm.training import Derivation

# Sentences whose trees are in memory together.
_PORTION = 256


def arguments(parser: argparse.ArgumentParser) -> None:
    _options.add_models(parser)
    _options.add_texts(parser, "a sentence; - reads standard input, one per line")
    parser.add_argument("--file", metavar="FILE", help="parse the lines of this file, or the words of its trees")
    parser.add_argument("--prefixes", action="store_true", help="print the best tree of each prefix")


def run(arguments: argparse.Namespace) -> int:
    from syntagm.training import brackets, corpus, trees

    _options.need_texts("syntagm parse", arguments.texts, arguments.file)
    gold = _gold(arguments.file) if arguments.file else []
    texts = [" ".join(tree.words) for tree in gold] or [*_texts(arguments.texts, arguments.file)]
    # The words of trees are parsed as they are.
    model = _options.load(
        arguments.model, _options.given_permissions(arguments), ["parse"], **({"tokens": "blanks"} if gold else {})
    )
    agreement, missing = brackets.Agreement(), 0
    answers = (answer for portion in corpus.portions(texts, _PORTION) for answer in model.parse(portion))
    for index, answer in enumerate(answers):
        for tree in answer if arguments.prefixes else answer[-1:] or ("",):
            print(tree, file=_streams.data())
        missing += not (answer and answer[-1])
        if gold:
            parsed = brackets.of_tree(next(trees.parse([answer[-1]]))) if answer[-1] else []
            agreement.add(brackets.of_actions(gold[index].actions), parsed, len(gold[index].words))
    if gold:
        for kind in ("labelled", "unlabelled") if model.labelled else ("unlabelled",):
            precision, recall, f1 = brackets.precision_recall_f1(*getattr(agreement, kind))
            print(f"{kind}: precision {precision:.4f}, recall {recall:.4f}, F1 {f1:.4f}", file=sys.stderr)
    if missing:
        print(f"syntagm: {missing:,} of {len(texts):,} sentences have no tree", file=sys.stderr)
    return 1 if missing else 0


def _gold(file: str) -> "list[Derivation]":
    """Return the trees of a file of trees; none of another file."""
    from syntagm.training import oracle, trees

    return [*oracle.derivations([file])] if file.removesuffix(".gz").endswith(trees.SUFFIXES) else []


def _texts(texts: Sequence[str], file: str | None) -> Iterator[str]:
    from syntagm.training import corpus

    if file:
        yield from corpus.texts([file])
    for text in texts:
        yield from (line.rstrip("\n") for line in sys.stdin) if text == "-" else [text]
