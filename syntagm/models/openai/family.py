"""The declaration of the family `openai`."""

from syntagm.core import Text, Whole
from syntagm.models.family import Family, Fixed, Option, Value

# The longest time for an answer in seconds, how often a request is tried, and the number of requests in flight.
SECONDS, TRIES, PARALLEL = 120, 8, 8

FAMILY = Family(
    name="openai",
    summary="A model on a server that answers completions with echo and log-probabilities (vLLM, SGLang, llama-cpp-python).",
    module="syntagm.models.openai.model",
    checks="syntagm.models.openai.model",
    settings=(
        Option(
            "bos", Text(("`auto`", "`<|endoftext|>`", "...")), "auto",
            "the start-of-text symbol before a text. `auto`: the one that the server adds, or none if it adds none: then the "
            "first token has no surprisal (`nan`). Otherwise a symbol as the tokenizer spells it, which is put before each "
            "text; it must be a single token, and is refused if the server adds one itself",
        ),
        Fixed("eos", Value("no")),
        Option(
            "model", Text(("a name",)), "", "name of the model on the server", effect="source",
            depends="the only one that the server offers", loading=True,
        ),
        Option(
            "key", Text(("a variable",)), "",
            "name of the environment variable that contains the key for the server. The key itself is never part of a name, a "
            "record or a message", effect="speed", depends="no key is sent", loading=True,
        ),
        Option("parallel", Whole(1, 1024), str(PARALLEL), "largest number of requests in flight", effect="speed"),
        Option("seconds", Whole(1, 86_400), str(SECONDS), "longest time for an answer", effect="speed"),
        Option(
            "tries", Whole(1, 100), str(TRIES),
            "how often a request is sent if the server can't be reached, is too slow, has an error (5xx) or asks for patience "
            "(429). The time between tries doubles, up to 30 seconds, or is that which the server asks for", effect="speed",
        ),
    ),
)  # fmt: skip
