"""The declaration of the family `exec`."""

from syntagm.models.family import Family
from syntagm.models.program.options import ALLOW_EXEC

FAMILY = Family(
    name="exec",
    summary="A program in any language, named by a TOML file; it reads and writes lines of JSON.",
    module="syntagm.models.exec.model",
    checks="syntagm.models.exec.model",
    settings=(ALLOW_EXEC,),
)
