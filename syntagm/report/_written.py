"""The files that this package writes. No page is read again."""

from syntagm.io.integrity import File

FILES = (File("a report", "*.html", checked=False),)
