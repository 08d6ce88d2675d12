"""List the model families, or the options of one family.

    syntagm models                   all families
    syntagm models masked            the options of the family `masked`

Options follow a question mark in the name of a model: FAMILY:PATH?OPTION=VALUE&OPTION=VALUE.
"""

import argparse
import textwrap
from typing import TYPE_CHECKING

from syntagm.core import permissions

if TYPE_CHECKING:
    from syntagm.models import Option

_CHANGES = {
    "scoring": "It changes numbers, so it is part of the model's name and of signatures.",
    "source": "It chooses what is read, so it is part of the model's name.",
    "trees": "Changes the trees of syntagm parse, and no numbers.",
    "speed": "Changes no numbers.",
}


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("family", metavar="FAMILY", nargs="?", help="a family, as `syntagm models` lists them")


def run(options: argparse.Namespace) -> int:
    from syntagm.models import QUERIES, families

    if options.family is None:
        print("FAMILY:PATH?OPTION=VALUE&OPTION=VALUE\n")
        width = max(map(len, families.names()))
        for name, family in families.every().items():
            print(f"{name:<{width}}  {family.summary}")
        print("\nsyntagm models FAMILY lists its options.")
        return 0
    family = families.find(options.family)
    print(f"{family.name}: {family.summary}")
    print(textwrap.fill(f"Its models can {'; '.join(QUERIES[query] for query in family.can)}.", 100))
    for option in family.options.values():
        print(f"\n{_shown(option)}")
    for name in family.permissions:
        print(
            f"\n{_wrapped(f'  {permissions.flag(name)}', f'A permission, never part of a name: {permissions.HELP[name]}.')}"
        )
    return 0


def _shown(option: "Option") -> str:
    values = "|".join(value.strip("`") for value in option.values.shown())
    default = option.default or option.depends.replace("`", "")
    meaning = option.meaning().replace("`", "")
    text = f"{meaning}{'' if meaning.endswith(('?', '.')) else '.'} Default: {default}. {_CHANGES[option.effect]}"
    return _wrapped(f"  {option.name}={values}", text)


def _wrapped(head: str, text: str) -> str:
    return f"{head}\n" + textwrap.fill(text, 100, initial_indent=" " * 6, subsequent_indent=" " * 6)
