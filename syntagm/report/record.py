"""The last section of every page: the methods section of `syntagm cite`, the bibliography, and the records of the runs."""

from typing import Any

from syntagm.report import methods
from syntagm.report.chapter import Chapter
from syntagm.report.section import Section


def _methods(chapter: Chapter) -> dict[str, Any]:
    return {"methods_text": methods.methods_text([column.run for column in chapter.columns])}


RECORD: Section[Chapter] = Section("record", "Record", template="record.html", show=_methods)
