"""A command whose output is recorded."""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Step:
    """A command and what becomes of it.

    Arguments:
        out: the name of the step, and of its files.
        command: what stands behind `syntagm`.
        quick: is it one of the quick steps?
        exit: the exit code that it should have.
        said: is what it prints kept?
        asks: what the server of the command is asked before it is stopped: names of files for the answers, and addresses.
    """

    out: str
    command: str
    quick: bool = False
    exit: int = 0
    said: bool = True
    asks: tuple[tuple[str, str], ...] = ()

    @property
    def shared(self) -> bool:
        """Does it rest on published data?"""
        return bool(re.search(r"\bshared/|shared_slices|[-_]shared\b", f"{self.out} {self.command}"))

    @property
    def views(self) -> list[tuple[str, str]]:
        """`table` or `figure`, and which."""
        return re.findall(r"^(table|figure) (\S+)", self.command)
