"""SVG that is safe to embed in a page: drawing elements and attributes only, no scripts, links or external files.

The label of a mark becomes its `title`, which browsers show as a tooltip and screen readers read out.
"""

import re
from collections.abc import Set
from xml.etree import ElementTree

ELEMENTS = frozenset({"svg", "g", "path", "rect", "text", "tspan", "line", "circle", "title", "defs", "clipPath"})
_PAINT = "fill fill-opacity opacity stroke stroke-opacity stroke-width stroke-dasharray stroke-linecap stroke-linejoin"
_TYPE = "font-family font-size font-style font-weight text-anchor"
_PLACE = (
    "clip-path cx cy d dx dy height id r stroke-dashoffset stroke-miterlimit transform viewBox width x x1 x2 y y1 y2"
)
ATTRIBUTES = frozenset(f"{_PAINT} {_TYPE} {_PLACE} version".split())
_NAMESPACE = "{http://www.w3.org/2000/svg}"
# Attributes with these values are left out: they change nothing in drawings of Vega, which sets none on groups.
_DEFAULTS = {"opacity": "1", "stroke-opacity": "1", "fill-opacity": "1", "stroke-width": "1", "x2": "0", "y2": "0",
             "transform": "translate(0,0)"}  # fmt: skip
_NOTHING = "M0,0h0v0h0Z"
_LONG = re.compile(r"(\.\d\d)\d+")


def checked(svg: str) -> str:
    """Remove unknown elements and attributes from a drawing, and round coordinates to a hundredth of a pixel.

    >>> checked('<svg xmlns="http://www.w3.org/2000/svg"><script>1</script><path onclick="2" d="M0.12345,0"/></svg>')
    '<svg xmlns="http://www.w3.org/2000/svg"><path d="M0.12,0" /></svg>'
    >>> checked('<svg xmlns="http://www.w3.org/2000/svg"><path aria-label="0.5 bits" d="M1,0"/></svg>')
    '<svg xmlns="http://www.w3.org/2000/svg"><path d="M1,0"><title>0.5 bits</title></path></svg>'
    """
    root = ElementTree.fromstring(svg)
    ElementTree.register_namespace("", _NAMESPACE[1:-1])
    fonts = {family for text in root.iter() if (family := text.get("font-family"))}
    _prune(root, drop={"font-family"} if len(fonts) == 1 else set())
    if len(fonts) == 1:
        root.set("font-family", *fonts)
    return ElementTree.tostring(root, encoding="unicode")


def _prune(element: ElementTree.Element, drop: Set[str]) -> None:
    """Remove forbidden content below an element, its attributes in `drop`, and content without effect on the drawing."""
    # The labels of headings are on other elements, and repeat their text.
    label = element.get("aria-label") if element.tag == f"{_NAMESPACE}path" else None
    for name, value in list(element.attrib.items()):
        allowed = name in ATTRIBUTES and (name != "clip-path" or value.startswith("url(#"))
        if not allowed or name in drop or _DEFAULTS.get(name) == value:
            del element.attrib[name]
        elif name in ("d", "transform"):
            element.set(name, _LONG.sub(r"\1", value))
    children: list[ElementTree.Element] = []
    for child in element:
        if child.tag.removeprefix(_NAMESPACE) not in ELEMENTS or child.get("d") in ("", _NOTHING):
            continue
        _prune(child, drop)
        # A group without attributes only holds its children.
        children += child if child.tag == f"{_NAMESPACE}g" and not child.attrib else [child]
    element[:] = children
    if label:
        title = ElementTree.Element(f"{_NAMESPACE}title")
        title.text = label
        element.insert(0, title)
