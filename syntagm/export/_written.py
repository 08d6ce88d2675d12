"""The files that this package writes: files for other programs, which Syntagm does not read again."""

from syntagm.io.integrity import Kind

FILES = (
    Kind("an export as CSV", "*.csv", checked=False),
    Kind("an export for lm-evaluation-harness", "*.json", checked=False),
    Kind("the samples of an export for lm-evaluation-harness", "samples_*.jsonl", checked=False),
    Kind("an n-gram model in the ARPA format", "*.arpa", checked=False),
)
