"""The files that this package writes. No page is read again."""

from syntagm.io.integrity import Kind

FILES = (Kind("a report", "*.html", checked=False),)
