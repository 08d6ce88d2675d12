"""The content security policy of a page: it allows the page's own scripts and styles, and nothing else.

Text from materials and models is untrusted. Templates escape it. Data for scripts is JSON in which no character can end
the script element or begin another. The policy names each script and style sheet by its hash.
"""

import base64
import hashlib
import json
from collections.abc import Sequence

_ESCAPES = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}


def embed(value: object) -> str:
    """Return a value as JSON that is safe inside a script element.

    >>> embed({"text": "</script>"})
    '{"text":"\\\\u003c/script\\\\u003e"}'
    """
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).translate(_ESCAPES)


def content_policy(scripts: Sequence[str], styles: Sequence[str]) -> str:
    """Return the Content-Security-Policy of a page, given the text of its script and style elements."""
    allowed = {"script-src": scripts, "style-src": styles}
    named = [
        f"{kind} {' '.join(map(_source, sources)) or chr(39) + 'none' + chr(39)}" for kind, sources in allowed.items()
    ]
    return "; ".join(["default-src 'none'", *named, "base-uri 'none'", "form-action 'none'"])


def _source(content: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"
