"""What can go wrong, as a tree.

    SyntagmError
    ├── UsageError        a name, an option or an argument that can't be taken
    ├── InputError        a file or text that is not what it should be
    │   └── FormulaError  a prediction that can't be parsed (with a caret under the place)
    ├── ModelError        a language model that can't be loaded or can't answer
    ├── AlignmentError    a token that reaches over the border of a region
    └── RunError          a run directory that is in use, damaged, or of another run

    Interrupted           the user asked to stop; what was finished is on disk

Each message says the place, what was found there, what was expected, and the cure.
"""


class SyntagmError(Exception):
    """Anything this package refuses to do, with the reason.

    Arguments:
        place: where: a file, an item, a condition, an option.
        found: what is there.
        expected: what should be there.
        cure: what to do about it, as a full sentence.
    """

    def __init__(self, place: str, found: str, expected: str = "", cure: str = "") -> None:
        self.place, self.found, self.expected, self.cure = place, found, expected, cure
        super().__init__(place, found, expected, cure)

    def __str__(self) -> str:
        message = f"{self.place}: {self.found}" if self.place else self.found
        if self.expected:
            message += f"; expected {self.expected}"
        return f"{message}. {self.cure}" if self.cure else message


class UsageError(SyntagmError):
    """A name, an option or an argument that can't be taken."""


class InputError(SyntagmError):
    """A file or text that is not what it should be."""


class FormulaError(InputError):
    """A prediction that can't be parsed; the message shows the text with a caret under the place."""


class ModelError(SyntagmError):
    """A language model that can't be loaded, or can't answer."""


class AlignmentError(SyntagmError):
    """A token that reaches over the border of a region, so that its bits belong to neither."""


class RunError(SyntagmError):
    """A run directory that is in use, damaged, or belongs to another run."""


class Interrupted(Exception):
    """The user asked to stop; everything finished before is on disk and the same command continues."""
