"""The declaration of the family `exec`."""

from syntagm.models.family import Family

FAMILY = Family(
    name="exec",
    summary="A program in any language, named by a TOML file; it reads and writes lines of JSON.",
    module="syntagm.models.exec.model",
    checks="syntagm.models.exec.model",
    endings=(".toml",),
    permissions=("allow_exec",),
    can=("score", "fill"),
)
