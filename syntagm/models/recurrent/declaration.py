"""Declarations of the families of word-level recurrent networks, and the settings that they share."""

from syntagm.core import Whole
from syntagm.models.contract import Query
from syntagm.models.family import DEVICE, NO_YES, YES_NO, Choice, Family, Fixed, Option, Program, Value, choice
from syntagm.models.words.splitting import KINDS

CAN: tuple[Query, ...] = ("score", "reduce", "fill", "best")


def family(
    name: str,
    summary: str,
    settings: tuple[Option | Fixed, ...],
    references: tuple[str, ...],
    can: tuple[Query, ...] = CAN,
) -> Family:
    """Return the declaration of a family, whose models are read from folders by `models.NAME.model.load`."""
    return Family(
        name=name,
        summary=summary,
        module=f"syntagm.models.{name}.model",
        checks="syntagm.models.words.vocabulary",
        settings=settings,
        can=can,
        references=references,
        programs=(Program("torch", "PyTorch"),),
    )


def settings(start: str, published: str = "", batch: int = 8192) -> tuple[Option | Fixed, ...]:
    """Return the settings of a family.

    Arguments:
        start: what `bos` decides: the symbol that is read before a text, and where it was in training.
        published: published numbers that were computed without this symbol, if there are any.
        batch: the default of `batch`.
    """
    unscored = "the first word has no surprisal (`nan`)" + (f", as in {published}" if published else "")
    return (
        Option("bos", Choice((Value("yes"), Value("no", unscored))), "yes", f"whether {start}."),
        Option("eos", NO_YES, "no", "whether the end-of-text symbol's surprisal is listed. It only counts in whole sentences"),
        Fixed("dtype", Value("f32", words="32-bit floats")),
        Option(
            "tokens", choice(["saved", *KINDS]), "saved", "how a text is split into words. `saved`: as in training"
        ),
        DEVICE,
        Option("batch", Whole(), str(batch), "number of words in a batch", effect="speed"),
        Option("sharing", YES_NO, "yes", "whether shared prefixes are computed once", effect="speed"),
    )  # fmt: skip
