"""What the files of a checkpoint ask for, tried under limits of time and memory (`io.limited`) before it is done.

A tokenizer may have a normaliser that makes a text a million times as long, an adapter a regular expression without end; and a
chat template is a program. The functions `try_...` do the work in the process of the trial.
"""

import importlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

from syntagm.errors import ModelError
from syntagm.io import hub, limited

# The trials of published files take milliseconds.
_SECONDS, _GIGABYTES = 5, 1
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
# No published tokenizer makes so many characters or tokens of one.
_MOST = 100
# The parts of tokenizer.json that are programs rather than lists.
_PROGRAMS = ("normalizer", "pre_tokenizer", "post_processor")
_UNKNOWN = "<unknown>"
_TEMPLATES = "transformers.utils.chat_template_utils"
_NAME = re.compile(r"[\w.-]*")


def refuse_tokenizer(settings: Mapping[str, Any], path: Path) -> None:
    """Refuse a tokenizer that does not divide a few texts within the limits.

    Its normaliser, pre-tokeniser and post-processor are tried, around an empty vocabulary: the size of the real one, and so
    the time and memory that it takes, is that of the file.

    Arguments:
        settings: the content of its file.
        path: tokenizer.json, for the message.

    Raises:
        ModelError: it breaks a limit, panics, or makes too much of a text.
    """
    model = {"type": "WordLevel", "vocab": {_UNKNOWN: 0}, "unk_token": _UNKNOWN}
    empty: dict[str, Any] = {"version": "1.0", "added_tokens": [], "model": model}
    empty |= dict.fromkeys(("truncation", "padding", "decoder"))
    parts = {name: settings.get(name) for name in _PROGRAMS}
    if problem := _problem(json.dumps(empty | parts)):
        raise ModelError(str(path), f"a tokenizer that can't be used: {problem}", "a tokenizer", hub.again(path))


@lru_cache(maxsize=32)
def _problem(tokenizer: str) -> str:
    return limited.problem(f"{__name__}:try_tokenizer", tokenizer, _SECONDS, _GIGABYTES, "tokenizers")


def try_tokenizer(written: str) -> str:
    """Tokenise the probes; return what is wrong with their tokens, or ""."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_str(written)
    for text in _PROBES:
        normal = tokenizer.normalizer.normalize_str(text) if tokenizer.normalizer else text
        for count, what in ((len(normal), "characters"), (len(tokenizer.encode(text).ids), "tokens")):
            if count > _MOST * len(text):
                return f"it makes {count:,} {what} of the {len(text)} characters {text[:20]!r} ..."
    return ""


def refuse_template(tokenizer: Any, message: Mapping[str, str], name: str) -> None:
    """Refuse a chat template that does not write one message within the limits.

    Arguments:
        tokenizer: the tokenizer, with its template.
        message: the message.
        name: name of the model, for messages.

    Raises:
        ModelError: the template is too long, breaks a limit, or writes too much.
    """
    expected, cure = "a template for a chat of this message alone", "Use another role, or chat=no."
    template = tokenizer.get_chat_template()
    if (length := len(template)) > LONGEST:
        raise ModelError(name, f"a chat template of {length:,} characters", f"at most {LONGEST:,}", "Use chat=no.")
    symbols = json.loads(json.dumps(tokenizer.special_tokens_map, default=str))
    job = {"template": template, "message": dict(message), "symbols": symbols}
    if problem := limited.problem(f"{__name__}:try_template", job, _SECONDS, _GIGABYTES, _TEMPLATES):
        raise ModelError(name, f"a chat template that fails: {problem}", expected, cure)


def try_template(job: Mapping[str, Any]) -> str:
    """Write a message by a chat template; return what is wrong with the text, or ""."""
    render: Any = importlib.import_module(_TEMPLATES).render_jinja_template
    [text], _ = render(conversations=[[job["message"]]], chat_template=job["template"], **job["symbols"])
    return f"it writes {len(text):,} characters; at most {LONGEST:,} are possible" if len(text) > LONGEST else ""


def refuse_patterns(settings: Any, names: Sequence[str], place: str) -> None:
    """Refuse settings with regular expressions that take too long on the names of a model's parts.

    Arguments:
        settings: a value of JSON, of which each text and key that is no plain name is taken as a regular expression.
        names: the names.
        place: the file of the settings, or the model, for the message.

    Raises:
        ModelError: they break a limit.
    """
    if not (patterns := list(_patterns(settings))):
        return
    job = {"patterns": patterns, "names": list(names)}
    if problem := limited.problem(f"{__name__}:try_patterns", job, _SECONDS, _GIGABYTES):
        found = f"regular expressions such as {max(patterns, key=len)[:60]!r}, which can't be used: {problem}"
        raise ModelError(place, found, "expressions that match names of layers")


def _patterns(settings: Any) -> Iterator[str]:
    match settings:
        case str() if not _NAME.fullmatch(settings):
            # The marks of regular expressions in compressed-tensors and GPTQ.
            yield re.sub(r"^(re|\+|-):", "", settings)
        case dict() | list() | tuple():
            for part in (*settings, *settings.values()) if isinstance(settings, dict) else settings:
                yield from _patterns(part)


def try_patterns(job: Mapping[str, Sequence[str]]) -> str:
    """Compare patterns with names in all the ways in which PEFT and quantisers do."""
    for pattern in job["patterns"]:
        for form in (
            pattern, rf"(.*\.)?({pattern})$", rf"(^|.*\.){pattern}($|\..*)", rf"(?:^|.*?\.){pattern}\.(?P<idx>\d+)\.",
        ):  # fmt: skip
            # The library says what is wrong with a pattern.
            with suppress(re.error, RecursionError, OverflowError):
                compiled = re.compile(form)
                for name in job["names"]:
                    compiled.match(name)
                    compiled.fullmatch(name)
                    compiled.search(name)
    return ""
