"""The declaration of the family `python`."""

from syntagm.models.family import Family

FAMILY = Family(
    name="python",
    summary="A class with the method `score` in a Python file, which runs in a process of its own.",
    module="syntagm.models.python.model",
    checks="syntagm.models.python.model",
    endings=(".py",),
    permissions=("allow_exec",),
    can=("score", "fill"),
)
