"""Each command of the gallery has its figure, and each figure its command."""

import re

from tools import gallery


def test_each_command_has_its_figure() -> None:
    text = gallery.PAGE.read_text(encoding="utf-8")
    drawn = [name for words in gallery.commands(text) if (name := gallery.figure(words))]
    shown = re.findall(r"^!\[[^\]]+\]\(\.\./gallery/(\w+)\.svg\)$", text, re.MULTILINE)
    assert drawn == shown
    assert sorted(drawn) == sorted(path.stem for path in gallery.FIGURES.iterdir())
    for path in gallery.FIGURES.iterdir():
        drawing = path.read_text(encoding="utf-8")
        assert drawing.startswith("<svg")
        assert "<script" not in drawing
