"""Chat templates: what precedes the content of a message, and the tokens of a text as that content.

The template is rendered with one message. What precedes the content is the context of the text. Context and text are
tokenised together, as a chat would be. If a token then belongs to both of them, or the text changes the tokens of the context,
it is refused. White space belongs to the token after it, so a token may begin with that of the template.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from syntagm.core import ModelError, UsageError
from syntagm.models.hugging_face.foreign import described
from syntagm.models.hugging_face.tokens import Encoded, encode_after

# Content that no template contains or changes.
_CONTENT = "SyntagmContent"
# Characters of a template, and of what it writes; most have some hundred.
_LONGEST = 100_000


def before_content(tokenizer: Any, role: str, name: str) -> str:
    """Return what a chat template writes before the content of a message, special symbols included."""
    place = f"model option chat={role}"
    if not tokenizer.chat_template:
        raise UsageError(place, f"no chat template in {name}", "a tokenizer with a template", "Use chat=no.")
    message = {"role": role, "content": _CONTENT}
    try:
        template = tokenizer.get_chat_template()
        rendered = str(tokenizer.apply_chat_template([message], tokenize=False))
    except Exception as error:  # a template is a program, and raises what programs raise
        expected = "a template for a chat of this message alone"
        raise ModelError(
            name, f"a chat template that fails ({described(error)})", expected, "Use another role, or chat=no."
        ) from error
    for found, length in (("that writes", len(rendered)), ("of", len(template))):
        if length > _LONGEST:
            raise ModelError(
                name, f"a chat template {found} {length:,} characters", f"at most {_LONGEST:,}", "Use chat=no."
            )
    if rendered.count(_CONTENT) != 1:
        found = f"a chat template that writes the content {rendered.count(_CONTENT)} times"
        raise ModelError(name, found, "once", "Use chat=no.")
    return rendered.partition(_CONTENT)[0]


def refuse_with_chat(options: Mapping[str, str], role: str) -> None:
    """Refuse options that the template decides on or that are not defined for the content of a message."""
    if role == "no":
        return
    for name, least in (("bos", "auto"), ("eos", "no"), ("boundary", "token")):
        if options.get(name, least) != least:
            cure = "The template decides on the symbols around a text." if name != "boundary" else ""
            raise UsageError("model options", f"{name}={options[name]} with chat={role}", "only one of them", cure)


def encode_contents(tokenizer: Any, context: str, texts: Sequence[str], name: str) -> Iterator[Encoded]:
    """Tokenise texts as the contents of messages."""
    expected = context_ids(tokenizer, context, name)
    for text, (before, encoded) in zip(texts, encode_after(tokenizer, context, texts, name), strict=True):
        if text and before != expected:
            raise ModelError(
                name, f"{text!r}, which changes the tokens of the chat template before it",
                "a text that begins with tokens of its own", "Remove white space at its beginning, or use chat=no.",
            )  # fmt: skip
        yield encoded


def context_ids(tokenizer: Any, context: str, name: str) -> list[int]:
    """Return the token ids of the context, as it is before a text that begins with a letter."""
    [(before, _)] = encode_after(tokenizer, context, ["a"], name)
    return before
