"""What a page may do: run the scripts and use the styles it carries, and nothing else.

Text from materials and models is untrusted. Templates escape it; what scripts read stands as JSON in which no character can
end the element or begin another; the content policy names each script and style sheet by its hash.
"""

import base64
import hashlib
import json
from collections.abc import Sequence

_ESCAPES = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}


def embedded(value: object) -> str:
    """JSON that can stand inside a script element.

    >>> embedded({"text": "</script>"})
    '{"text":"\\\\u003c/script\\\\u003e"}'
    """
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).translate(_ESCAPES)


def content_policy(scripts: Sequence[str], styles: Sequence[str]) -> str:
    """The Content-Security-Policy of a page that carries these scripts and style sheets, as they stand in their elements."""
    allowed = {"script-src": scripts, "style-src": styles}
    named = [
        f"{kind} {' '.join(map(_source, sources)) or chr(39) + 'none' + chr(39)}" for kind, sources in allowed.items()
    ]
    return "; ".join(["default-src 'none'", *named, "base-uri 'none'", "form-action 'none'"])


def _source(content: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"
