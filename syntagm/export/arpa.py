"""An ARPA file of the n-gram model in a folder, for KenLM, SRILM and others; FILE.gz is gzipped."""

from pathlib import Path
from typing import final

from syntagm.errors import UsageError
from syntagm.export import Kind, Outcome
from syntagm.models.ngram import arpa, folder


@final
class Arpa(Kind):
    """The n-grams of a model folder."""

    def write(self, source: str, output: Path | None) -> Outcome:
        """Write the ARPA file; the note is the name under which the same model is loaded from it."""
        if not output:
            raise UsageError("-o", "the standard output", "a file: an ARPA file is written whole or not at all")
        ngrams, vocabulary, tokens, _ = folder.read(Path(source))
        arpa.write(ngrams, output)
        # The format has no place for how texts are divided and what unknown words are taken for.
        unknown = "single" if vocabulary.classes == "none" else "berkeley"
        return Outcome(notes=(f"the same model: ngram:{output}?tokens={tokens}&unknown={unknown}",))


KIND = Arpa()
