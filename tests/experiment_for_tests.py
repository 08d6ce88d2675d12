"""Suites and experiments for tests of human experiments: small enough to be checked by hand."""

from collections.abc import Callable
from pathlib import Path

from syntagm.experiment import Exclusions, Plan, Study, designs, make, simulate
from syntagm.suites import Item, Prediction, Region, Sentence, Suite, parse

NOUNS = ("cat", "dog", "boy", "girl", "cook", "king", "nurse", "clerk", "judge", "guard", "actor", "baker")


def pairs(name: str = "agreement", items: int = 4) -> Suite:
    """Pairs: The cat sleeps / sleep, with the regions subject, verb and rest."""
    return Suite(name, tuple(_item(number, ("sleeps", "sleep")) for number in range(items)), (_PAIR,))


def crossed(items: int = 4) -> Suite:
    """Two by two: number of the subject and of the verb, with a difference of differences as prediction."""
    made = []
    for number in range(items):
        noun = NOUNS[number % len(NOUNS)]
        made.append(
            Item(
                str(number + 1),
                {
                    f"{subject}_{verb}": _sentence(
                        noun + ("s" if subject == "pl" else ""), "sleeps" if verb == "sg" else "sleep"
                    )
                    for subject in ("sg", "pl")
                    for verb in ("sg", "pl")
                },
            )
        )
    formula = "(verb;%sg_pl%) - (verb;%sg_sg%) > (verb;%pl_pl%) - (verb;%pl_sg%)"
    return Suite("crossed", tuple(made), (Prediction("interaction", parse(formula)),))


_PAIR = Prediction("better", parse("(verb;%good%) < (verb;%bad%)"))


def _item(number: int, verbs: tuple[str, str]) -> Item:
    noun = NOUNS[number % len(NOUNS)]
    return Item(str(number + 1), dict(zip(("good", "bad"), (_sentence(noun, verb) for verb in verbs), strict=True)))


def _sentence(noun: str, verb: str) -> Sentence:
    text = f"The {noun} {verb} all day."
    at = len(f"The {noun} ")
    return Sentence(
        text,
        (
            Region("subject", 0, at - 1),
            Region("verb", at, at + len(verb)),
            Region("rest", at + len(verb) + 1, len(text)),
        ),
    )


def planned(suites: list[Suite], design: str, participants: int, **wishes: object) -> Plan:
    """Plan an experiment without practice and catch trials, unless asked for."""
    given = {"built_in": False, "exclusions": Exclusions(catch=0.0), **wishes}
    model = given.pop("model", None)
    return make.planned(suites, make.Wishes(designs.find(design), participants, **given), model)  # type: ignore[arg-type]


def written(made: Plan, folder: Path) -> Path:
    """Write an experiment, whose people can write to somebody, and return its folder."""
    make.write(made, folder)
    settings = folder / "study.toml"
    settings.write_text(settings.read_text().replace("name@example.org", "lab@university.example"))
    return folder


def filled(made: Plan, folder: Path, seed: int = 1, **truth: float) -> Study:
    """Write an experiment, and let simulated people answer it."""
    make.write(made, folder)
    chosen = {"effect": simulate.EFFECTS[made.design.name], **truth}
    return simulate.fill(folder, simulate.Simulated(made, simulate.Truth(**chosen), seed))


class Clock:
    """A clock that tests set."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def study(made: Plan, folder: Path, clock: Callable[[], float] | None = None) -> Study:
    """Write an experiment, and open its file of answers."""
    make.write(made, folder)
    return Study(folder, clock or Clock())
