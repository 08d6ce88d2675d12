"""The designs of human experiments. A design is a record: what a trial shows, and what its answer is."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from syntagm.core import UsageError, did_you_mean

Answer = Literal["choice", "rating", "times"]


@dataclass(frozen=True, slots=True)
class Design:
    name: str  # its name on the command line and in plans
    summary: str  # what a person does, in a few words
    answer: Answer  # what a trial asks for: a choice, a rating, or a time for each region
    shows: int  # how many sentences a trial shows: 2 for a pair
    choices: tuple[str, ...]  # the possible choices, if they don't depend on the trial
    question: str  # the question beside the sentences, which the experimenter may edit
    instructions: str  # the instructions, which the experimenter may edit

    @property
    def timed(self) -> bool:
        """Whether a trial is read region by region."""
        return self.answer == "times"


_RATING = "There are no right or wrong answers. Use the whole scale, and go by your first impression."

DESIGNS: Mapping[str, Design] = {
    design.name: design
    for design in (
        Design(
            "forced-choice", "choose the better of two sentences", "choice", 2, (),
            "Which sentence sounds more natural?",
            "You will see two sentences at a time. Choose the one that sounds more natural to you, "
            "with a click or with the keys 1 and 2. Go by your first impression.",
        ),
        Design(
            "acceptability", "rate a sentence on a scale from 1 to 7", "rating", 1, (),
            "How natural does this sentence sound? (1: not at all, 7: completely)",
            "You will see one sentence at a time. Rate how natural it sounds from 1 (not at all) to 7 (completely), "
            f"with a click or with the number keys. {_RATING}",
        ),
        Design(
            "yes-no", "say whether a sentence is acceptable", "choice", 1, ("yes", "no"),
            "Is this an acceptable sentence of English?",
            "You will see one sentence at a time. Say whether it is an acceptable sentence, with a click or with the keys "
            "Y and N. Go by your first impression.",
        ),
        Design(
            "magnitude", "rate a sentence in proportion to a reference sentence", "rating", 1, (),
            "The reference sentence has the value 100. Which value has this sentence?",
            "You will give each sentence a number above 0 for how natural it sounds. The reference sentence has the "
            "number 100: a sentence that sounds twice as natural gets 200, one that sounds half as natural gets 50.",
        ),
        Design(
            "self-paced", "read a sentence word by word", "times", 1, ("yes", "no"),
            "Press the space bar, or tap, to read the next word.",
            "You will read sentences word by word. Press the space bar, or tap, to see the next word. Read at your natural "
            "pace, but so that you understand: some sentences are followed by a question.",
        ),
        Design(
            "maze", "choose the word that continues a sentence", "times", 1, ("right", "wrong"),
            "Which word continues the sentence?",
            "You will build sentences word by word. Of two words, choose the one that continues the sentence, with a "
            "click or with the keys 1 and 2, as fast as you can without mistakes.",
        ),
    )
}  # fmt: skip

LOWEST, HIGHEST = 1, 7
# The largest number in a magnitude estimation; the smallest is its inverse.
MOST = 1e6


def find(name: str) -> Design:
    if name not in DESIGNS:
        cure = did_you_mean(name, DESIGNS)
        raise UsageError("--design", repr(name), "one of " + ", ".join(DESIGNS), cure)
    return DESIGNS[name]
