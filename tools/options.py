"""Generator of the tables of options in docs/reference/models.md from the declarations of the model families.

python -m tools.options
"""

import re
from pathlib import Path

from syntagm.models import families
from syntagm.models.family import Family
from syntagm.models.option import Option

PAGE = Path(__file__).resolve().parents[1] / "docs" / "reference" / "models.md"
BEGIN, END = "<!-- options of {}: written by python -m tools.options -->", "<!-- end of options -->"
_HEAD = "| option | values | default | changes | meaning |\n|---|---|---|---|---|\n"
_EFFECTS = {"scoring": "numbers", "source": "what is read", "speed": "speed", "permission": "what may run"}


def table(family: Family) -> str:
    """Return the options of a family as a Markdown table."""
    return _HEAD + "".join(map(_line, family.options.values()))


def _line(option: Option) -> str:
    default = f"`{option.default}`" if option.default else option.depends
    cells = (f"`{option.name}`", ", ".join(option.values.shown()), default, _EFFECTS[option.effect], option.meaning())
    return f"| {' | '.join(cells)} |\n"


def page(text: str) -> str:
    """Return the page with the tables replaced by the current declarations.

    Raises:
        ValueError: the page does not have exactly one table of a family.
    """
    for name in families.names():
        begin = BEGIN.format(name)
        block = re.compile(re.escape(begin) + r"\n.*?" + re.escape(END), re.DOTALL)
        replacement = f"{begin}\n\n{table(families.find(name))}\n{END}"
        text, count = block.subn(lambda _, replacement=replacement: replacement, text)
        if count != 1:
            raise ValueError(
                f"{PAGE.name}: {count} tables of {name}; write {begin} and {END} once, on lines of their own"
            )
    return text


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
