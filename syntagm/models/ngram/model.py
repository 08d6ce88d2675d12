"""N-gram models: folders made by `syntagm train ngram`, ARPA files, KenLM's binary files.

`ngram:FOLDER`, `ngram:FILE.arpa`, `ngram:FILE.arpa.gz`, `ngram:FILE.binary` (with the package kenlm: `pip install
syntagm[kenlm]`). Before each text stands `<s>`. Options, after `?` and joined by `&`:

    eos=no|yes                  is the surprisal of `</s>` listed? It counts in whole sentences only
    tokens=blanks|treebank      what is a word? Files of other programs: as white space divides the text, or as NLTK's Penn
                                Treebank tokenizer does. Folders say how their training text was divided
    case=keep|lower             look words up as they are, or in lower case (for a model of a text in lower case)
    unknown=single|berkeley     ARPA files: unknown words are `<unk>`, or the classes of unknown words that the file has

Words that the model doesn't have are marked as unknown. Equal words after equal histories have equal numbers, bit for bit.
"""

import hashlib
from collections.abc import Mapping
from pathlib import Path

from syntagm.errors import ModelError, UsageError
from syntagm.models.names import canonical, choose, refuse_others
from syntagm.models.ngram import arpa_reader, kenlm
from syntagm.models.ngram import folder as _ngram_folder
from syntagm.models.ngram.back_off import BackOff
from syntagm.models.ngram.kenlm import KenLM
from syntagm.models.words.scorer import Asked
from syntagm.models.words.vocabulary import Vocabulary
from syntagm.models.words.words import KINDS

_OPTIONS = ("eos", "tokens", "case", "unknown")


def load(path: str, **options: str) -> BackOff | KenLM:
    """Load an n-gram model.

    Raises:
        UsageError: an option that the family or this kind of file doesn't have.
        ModelError: it can't be read, is damaged, or needs a package that is not installed.
    """
    refuse_others("ngram", options, _OPTIONS)
    place = Path(path)
    if not path or not place.exists():
        raise ModelError(f"ngram:{path}", "no such file or folder", "a trained folder, an ARPA file, a KenLM binary")
    if place.is_dir():
        return _folder(place, options)
    if not place.is_file():
        raise ModelError(f"ngram:{path}", "no plain file", "a file", "What comes through a pipe can't be read twice.")
    asked = _asked(options, choose(options, "tokens", KINDS, "blanks"))
    digest = _hash(place)
    name = canonical("ngram", f"{place.name}@{digest[:8]}", options)
    if kenlm.is_binary(place):
        if "unknown" in options:
            raise UsageError("model option unknown", "a KenLM binary, whose words can't be listed", "an ARPA file")
        return KenLM(place, name, digest, asked)
    classes = choose(options, "unknown", ["single", "berkeley"], "single")
    ngrams = arpa_reader.read(place)
    vocabulary = Vocabulary(ngrams.words[:-1], 1, "berkeley" if classes == "berkeley" else "none")
    return BackOff(ngrams, vocabulary, name, digest, asked)


def _folder(folder: Path, options: Mapping[str, str]) -> BackOff:
    if "unknown" in options:
        raise UsageError("model option unknown", "given with a folder, which says it", "none")
    ngrams, vocabulary, tokens, digest = _ngram_folder.read(folder)
    # A model that takes either takes a text as it stands if told so; another must not read other words than it learnt.
    asked = _asked(options, choose(options, "tokens", KINDS if tokens == "auto" else [tokens], tokens))
    shown = {key: value for key, value in options.items() if key != "tokens" or value != tokens}
    name = canonical("ngram", f"{folder.resolve().name}@{digest[:8]}", shown)
    return BackOff(ngrams, vocabulary, name, digest, asked)


def _asked(options: Mapping[str, str], tokens: str) -> Asked:
    eos = choose(options, "eos", ["no", "yes"], "no") == "yes"
    return Asked(tokens, eos, choose(options, "case", ["keep", "lower"], "keep") == "lower")


def _hash(path: Path) -> str:
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ModelError(f"ngram:{path}", f"can't be read ({error.strerror or error})", "a readable file") from None
