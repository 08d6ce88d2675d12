"""The files that this package writes: files for other programs, which Syntagm does not read again."""

from syntagm.io.integrity import File

FILES = (
    File("an export as CSV", "*.csv", checked=False),
    File("an export for lm-evaluation-harness", "*.json", checked=False),
    File("the samples of an export for lm-evaluation-harness", "samples_*.jsonl", checked=False),
    File("an export for Every Eval Ever", "*.json", checked=False),
    File("the items of an export for Every Eval Ever", "*_samples.jsonl", checked=False),
    File("an n-gram model in the ARPA format", "*.arpa", checked=False),
)
