"""The files that the command line itself writes. None is read again."""

from syntagm.io.integrity import Kind

FILES = (
    *(
        Kind("surprisals of tokens or words", f"*.{ending}", checked=False)
        for ending in ("csv", "tsv", "parquet", "jsonl")
    ),
    Kind("the discordant items of two models", "*.csv", checked=False),
    Kind("a page about suites, or a methods paragraph", "*.md", checked=False),
    Kind("a methods paragraph in LaTeX", "*.tex", checked=False),
    Kind("a bibliography", "*.bib", checked=False),
)
