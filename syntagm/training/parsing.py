"""Trees for plain text, from a parser: a program that prints brackets, or a model that parses.

`exec:FILE.toml` names a program by its command:

    command = ["python", "parser.py"]      started in the folder of this file, if that is allowed

It reads sentences from standard input, one per line, with their words separated by single spaces and brackets written
-LRB- and -RRB-. It prints a Penn-style tree for each sentence, with a tag for each word, in the same order. Any other name
is that of a model with the method `parse`; its words get the tag X.

The trees are written once. Beside STEM.trees, STEM.parsed.json records the parser, the text and the hash of the trees.
"""

import hashlib
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from syntagm.core import InputError, ModelError, Permissions, Progress, RunError, atomic, hashing, record, toml, utf8
from syntagm.models import LanguageModel, Start, families, leaf, names, refuse_unless_allowed, sources
from syntagm.training.corpora import corpus, trees
from syntagm.training.corpora.trees import Tree

EXEC = "exec:"
# The tag of the words in trees of models, which have no tags.
TAG = "X"
_PORTION = 256
_CURE = "Remove it and the trees beside it; the same command then parses the text again."
_FORM = record.Form(
    "the record of a parsed text",
    1,
    {
        "format": int,
        "parser": str,
        "fingerprint": str,
        "text": [{"name": str, "files": int, "bytes": int, "sha256": str}],
        "tokens": str,
        "sentences": int,
        "skipped": int,
        "sha256": str,
    },
    _CURE,
)


def parse(
    paths: Sequence[str], parser: str, stem: Path, tokens: str, permissions: Permissions,
    progress: Progress | None = None,
) -> str:  # fmt: skip
    """Parse a text into a file of trees; do nothing if this parser has already parsed it."""
    program = _program(parser, permissions) if parser.startswith(EXEC) else None
    model = None if program else _model(parser, permissions)
    fingerprint = sources(program) if program else model.fingerprint if model else ""
    name = model.name if model else f"{EXEC}{Path(parser.removeprefix(EXEC)).name}"
    identity = {"parser": name, "fingerprint": fingerprint, "text": corpus.record(paths), "tokens": tokens}
    target, described = stem.with_name(f"{stem.name}.trees"), stem.with_name(f"{stem.name}.parsed.json")
    if described.exists():
        before = _FORM.read(described)
        record.refuse_another(described, "trees by another parser, or of another text,", before, identity, _CURE)
        if target.exists():
            if hashing.of_file(target) != before["sha256"]:
                raise RunError(str(target), "damaged or edited", "the trees as they were written", _CURE)
            return str(target)
    elif target.exists():
        raise RunError(str(target), "trees without their record", "a new folder", "Move them away.")
    sentences = [" ".join(map(leaf, words)) for words in corpus.sentences(paths, tokens)]
    (progress or Progress()).began(f"parsing {len(sentences):,} sentences with {name}")
    found = _by_program(program, parser, sentences) if program else map(_tagged, _by_model(model, sentences))
    lines = [f"{tree}\n" for tree in _checked(found, sentences, parser) if tree]
    if skipped := len(sentences) - len(lines):
        (progress or Progress()).warned(f"{skipped:,} of {len(sentences):,} sentences have no tree, and are left out")
    content = "".join(lines).encode()
    counts = {"sentences": len(sentences), "skipped": skipped, "sha256": hashlib.sha256(content).hexdigest()}
    atomic.make_folder(target.parent)
    # The record comes first: it shows that trees, or their absence after a kill, are of this command.
    _FORM.write(described, identity | counts)
    atomic.write(target, content)
    return str(target)


def _model(parser: str, permissions: Permissions) -> LanguageModel:
    """Load a model that parses. Sentences are split before it gets them, so it takes their words as they are."""
    split = {"tokens": "blanks"} if "tokens" in families.find(names.parse(parser).family).options else {}
    return names.load_permitted(parser, permissions, split, ["parse"])


def _program(parser: str, permissions: Permissions) -> Start:
    refuse_unless_allowed(parser, permissions.allow_exec)
    path = Path(parser.removeprefix(EXEC))
    if not path.is_file():
        raise ModelError(parser, "no such file", "a TOML file with the command that starts the parser")
    try:
        table = toml.read(utf8.read(path), parser)
        toml.known(table, ("command",), parser)
        command = toml.need(table.get("command", []), list, f"{parser}, command")
        if not command or not all(isinstance(word, str) and word for word in command):
            expected = 'a list of texts, such as ["python", "parser.py"]'
            raise InputError(f"{parser}, command", toml.shown(command), expected)
    except InputError as error:
        raise ModelError(error.place, error.found, error.expected, error.cure) from error
    return Start(command, path.resolve().parent)


def _by_program(program: Start, parser: str, sentences: Sequence[str]) -> Iterator[Tree]:
    with tempfile.TemporaryFile() as asked, tempfile.TemporaryFile() as answer:
        asked.writelines(f"{sentence}\n".encode() for sentence in sentences)
        asked.seek(0)
        try:
            ended = subprocess.run(program.command, stdin=asked, stdout=answer, cwd=program.folder, check=False)
        except OSError as error:
            raise ModelError(parser, f"can't be started ({error.strerror})", "a command that starts a parser") from None
        if ended.returncode:
            raise ModelError(parser, f"the program ended with the code {ended.returncode}", "0, and a tree a sentence")
        answer.seek(0)
        try:
            yield from trees.parse((line.decode() for line in answer), f"{parser}, its output")
        except UnicodeDecodeError as error:
            raise ModelError(parser, f"output that is no text ({error})", "trees in UTF-8") from None


def _by_model(model: LanguageModel | None, sentences: Sequence[str]) -> Iterator[Tree | None]:
    """Yield the best tree of each sentence; None if the model finds none."""
    assert model is not None
    for portion in corpus.portions(sentences, _PORTION):
        for answer in model.parse(portion):
            yield next(trees.parse(answer[-1:])) if answer and answer[-1] else None


def _tagged(tree: Tree | None) -> Tree | None:
    """Return a tree in which each word has a tag of its own.

    >>> print(_tagged(Tree("S", (Tree("NP", ("dogs",)), "bark"))))
    (S (NP (X dogs)) (X bark))
    """
    if tree is None:
        return None
    # Not recursive, as trees may be deep: brackets are kept, and words get a tag.
    parts: list[str] = []
    stack: list[Tree | str | None] = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, Tree):
            parts.append(f"({node.label}")
            stack += [None, *reversed(node.children)]
        else:
            parts.append(")" if node is None else f"({TAG} {node})")
    return next(trees.parse([" ".join(parts)]))


def _checked(found: Iterable[Tree | None], sentences: Sequence[str], parser: str) -> Iterator[Tree | None]:
    """Yield the trees; refuse those that don't have the words of their sentences."""
    count = 0
    for count, tree in enumerate(found, 1):
        if count > len(sentences):
            raise InputError(parser, f"more than {len(sentences):,} trees", "one for each sentence")
        sentence = sentences[count - 1]
        if tree is not None and (words := " ".join(trees.words(tree))) != sentence:
            cure = "The words must stay as they are, in the order of the sentences."
            raise InputError(f"{parser}, tree {count}", f"the words {words[:80]!r}", f"{sentence[:80]!r}", cure)
        yield tree
    if count < len(sentences):
        raise InputError(parser, f"{count:,} trees", f"{len(sentences):,}: one for each sentence")
