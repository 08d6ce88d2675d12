"""What the files of a checkpoint ask for, tried out under limits of time and memory (`io.limited`) before it is done.

A tokenizer may have a normaliser that makes a text a million times as long, an adapter a regular expression without end; and a
chat template is a program.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from syntagm.errors import ModelError
from syntagm.io import hashing, hub, limited

# Seconds of computing, and memory. The largest tokenizers are read in 3 seconds and 1 GB; the other things take milliseconds.
SECONDS = {"tokenizer": 20, "chat": 5, "patterns": 5}
GIGABYTES = 4
# Characters of a chat template, and of what it writes; most have some hundred.
LONGEST = 100_000
# All ASCII characters, some others, a long word, many words.
_PROBES = (
    "".join(map(chr, range(32, 127))),
    "the quick brown fox jumps over the lazy dog .",
    "a" * 200,
    "The dog barks. " * 20,
    "na\u00efve caf\u00e9 \u2603 \u96ea\u4eba \u05e7\u05e8\u05d7 \U0001f468\u200d\U0001f469\u200d\U0001f467 e\u0301",
    "  two  blanks,\tone tab\nand a line 12345 ",
)
# No published tokenizer makes so many tokens of a character.
_MOST = 100
_FILES = ("tokenizer*", "special_tokens_map.json", "added_tokens.json", "vocab*", "merges.txt", "*.model", "*.jinja")
# What is wrong with the tokenizers that were tried in this process, by the hash of their files: many models share one.
_tried: dict[str, str] = {}


def refuse_tokenizer(folder: Path, load: Callable[[], Any], gguf: str | None = None) -> None:
    """Refuse a tokenizer that is not loaded, or that does not tokenise a few texts, within the limits.

    Arguments:
        folder: the folder of its files.
        load: a function that loads it. If it raises an exception, so will the caller, who says more.
        gguf: the GGUF file in the folder that contains the tokenizer; None if it has files of its own.

    Raises:
        ModelError: it breaks a limit, fails on a text, or ends its process.
    """

    def work() -> str:
        try:
            backend = load().backend_tokenizer
        except Exception:
            return ""
        backend.no_truncation()
        backend.no_padding()
        for text in _PROBES:
            if (count := len(backend.encode(text).ids)) > _MOST * len(text):
                return f"it makes {count:,} tokens of the {len(text)} characters {text[:20]!r} ..."
        return ""

    files = sorted({file for pattern in _FILES for file in folder.glob(pattern) if file.is_file()})
    digest = gguf or hashing.of_text("".join(f"{file.name}|{hashing.of_file(file)}|" for file in files))
    # To hash a GGUF file takes longer than the trial.
    if gguf or digest not in _tried:
        try:
            _tried[digest] = limited.result(work, SECONDS["tokenizer"], GIGABYTES)
        except limited.Unfinished as reason:
            _tried[digest] = str(reason)
    if problem := _tried[digest]:
        path = folder / (gguf or "tokenizer.json")
        place = path if path.exists() else folder
        raise ModelError(str(place), f"a tokenizer that can't be used: {problem}", "a tokenizer", hub.again(path))


def rendered(tokenizer: Any, message: Mapping[str, str], name: str) -> str:
    """Return what the chat template of a tokenizer writes for one message.

    Arguments:
        tokenizer: the tokenizer.
        message: the message.
        name: name of the model, for messages.

    Raises:
        ModelError: the template fails, breaks a limit, or writes too much.
    """

    def work() -> str:
        text = str(tokenizer.apply_chat_template([dict(message)], tokenize=False))
        if len(text) > LONGEST:
            raise ValueError(f"{len(text):,} characters; at most {LONGEST:,} are possible")
        return text

    if (length := len(str(tokenizer.chat_template))) > LONGEST:
        raise ModelError(name, f"a chat template of {length:,} characters", f"at most {LONGEST:,}", "Use chat=no.")
    try:
        text: str = limited.result(work, SECONDS["chat"], GIGABYTES)
    except limited.Unfinished as problem:
        expected = "a template for a chat of this message alone"
        raise ModelError(
            name, f"a chat template that fails: {problem}", expected, "Use another role, or chat=no."
        ) from None
    return text


def refuse_patterns(patterns: Sequence[str], names: Sequence[str], place: str) -> None:
    """Refuse regular expressions of an adapter that take too long on the names of a model's parts.

    Arguments:
        patterns: the regular expressions.
        names: the names.
        place: their file, for the message.

    Raises:
        ModelError: they break a limit.
    """

    def work() -> None:
        for pattern in patterns:
            # All the ways in which PEFT uses them.
            for form in (
                pattern, rf"(.*\.)?({pattern})$", rf"(^|.*\.){pattern}($|\..*)", rf"(?:^|.*?\.){pattern}\.(?P<idx>\d+)\.",
            ):  # fmt: skip
                # PEFT says what is wrong with a pattern.
                with suppress(re.error, RecursionError, OverflowError):
                    compiled = re.compile(form)
                    for name in names:
                        compiled.match(name)
                        compiled.fullmatch(name)
                        compiled.search(name)

    try:
        limited.result(work, SECONDS["patterns"], GIGABYTES)
    except limited.Unfinished as problem:
        found = f"regular expressions such as {max(patterns, key=len)[:60]!r}, which can't be used: {problem}"
        raise ModelError(place, found, "expressions that match names of layers") from None
