"""What axe-core finds in pages, for development only: `npm pack axe-core`, and AXE_CORE names its axe.min.js."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

AXE = os.environ.get("AXE_CORE", "")
needed = pytest.mark.skipif(not AXE, reason="AXE_CORE does not name axe.min.js of axe-core")


def faults(browser: Any, opening: str, paths: Sequence[str]) -> list[tuple[str, ...]]:
    """The serious faults of pages in both colour schemes: page, scheme, rule, and the first elements."""
    rules, root, found = Path(AXE).read_text("utf-8"), opening.partition("?")[0], []
    for scheme in ("light", "dark"):
        context = browser.new_context(color_scheme=scheme, bypass_csp=True)
        page = context.new_page()
        page.goto(opening)
        for path in paths:
            page.goto(root + path)
            page.evaluate(rules)
            found += [
                (path, scheme, fault["id"], *(node["html"][:200] for node in fault["nodes"][:3]))
                for fault in page.evaluate("async () => (await axe.run()).violations")
                if fault["impact"] in ("serious", "critical")
            ]
        context.close()
    return found
