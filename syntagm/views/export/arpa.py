"""Export of the n-gram model in a model folder as an ARPA file, for KenLM, SRILM and others; FILE.gz is gzipped."""

from pathlib import Path
from typing import final

from syntagm.core import UsageError
from syntagm.models import arpa, folder
from syntagm.views.export import Export, Outcome


@final
class Arpa(Export):
    """The export of n-gram models as ARPA files."""

    def write(self, source: str, output: Path | None) -> Outcome:
        """Write the ARPA file; the outcome's note gives the name that loads the same model from it."""
        if not output:
            raise UsageError("-o", "standard output", "a file name: an ARPA file is written completely or not at all")
        ngrams, vocabulary, tokens, _ = folder.read(Path(source))
        arpa.write(ngrams, output)
        # ARPA files can't record how texts are divided into words, and the classes of unknown words.
        unknown = "single" if vocabulary.classes == "none" else "berkeley"
        return Outcome(notes=(f"the same model: ngram:{output}?tokens={tokens}&unknown={unknown}",))


EXPORT = Arpa()
