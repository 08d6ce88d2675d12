"""The permission to start programs, shared by the families that do."""

from syntagm.models.option import NO_YES, Option

ALLOW_EXEC = Option(
    "allow_exec", NO_YES, "no",
    "whether the program may be started. On the command line: `--allow-exec`; in Python: the argument "
    '`allow_exec="yes"`. It can\'t be part of a name, since names are also read from files',
    effect="permission", loading=True, argument_only=True,
)  # fmt: skip
