"""N-gram models: folders made by `syntagm train ngram`, ARPA files, KenLM's binary files.

`ngram:FOLDER`, `ngram:FILE.arpa`, `ngram:FILE.arpa.gz`, `ngram:FILE.binary` (with the package kenlm: `pip install
syntagm[kenlm]`). Before each text stands `<s>`.

Words that the model doesn't have are marked as unknown. Equal words after equal histories have equal numbers, bit for bit.
"""

import hashlib
from collections.abc import Mapping
from pathlib import Path

from syntagm.errors import ModelError, UsageError
from syntagm.models.ngram import arpa_reader, folder, kenlm
from syntagm.models.ngram.back_off import BackOff
from syntagm.models.ngram.family import FAMILY
from syntagm.models.ngram.kenlm import KenLM
from syntagm.models.ngram.scorer import Asked
from syntagm.models.option import choice
from syntagm.models.words.vocabulary import Vocabulary


def load(path: str, **options: str) -> BackOff | KenLM:
    """Load an n-gram model.

    Raises:
        UsageError: an option that the family or this kind of file doesn't have.
        ModelError: it can't be read, is damaged, or needs a package that is not installed.
    """
    chosen = FAMILY.choose(options)
    place = Path(path)
    if not path or not place.exists():
        raise ModelError(f"ngram:{path}", "no such file or folder", "a trained folder, an ARPA file, a KenLM binary")
    if place.is_dir():
        return _of_folder(place, chosen, options)
    if not place.is_file():
        raise ModelError(
            f"ngram:{path}", "not a regular file", "a file", "What comes through a pipe can't be read twice."
        )
    asked = _asked(chosen, chosen.get("tokens", "blanks"))
    digest = _hash(place)
    name = FAMILY.canonical(f"{place.name}@{digest[:8]}", options)
    if kenlm.is_binary(place):
        if "unknown" in options:
            raise UsageError("model option unknown", "a KenLM binary, whose words can't be listed", "an ARPA file")
        return KenLM(place, name, digest, asked)
    ngrams = arpa_reader.read(place)
    vocabulary = Vocabulary(ngrams.words[:-1], 1, "berkeley" if chosen.get("unknown") == "berkeley" else "none")
    return BackOff(ngrams, vocabulary, name, digest, asked)


def _of_folder(place: Path, chosen: Mapping[str, str], options: Mapping[str, str]) -> BackOff:
    if "unknown" in options:
        raise UsageError("model option unknown", "given with a folder, which says it", "none")
    ngrams, vocabulary, tokens, digest = folder.read(place)
    # A model that takes either takes a text as it stands if told so; another must not read other words than it learnt.
    if tokens != "auto" and "tokens" in options:
        choice([tokens]).check("model option tokens", options["tokens"])
    asked = _asked(chosen, chosen.get("tokens", tokens))
    shown = {key: value for key, value in options.items() if key != "tokens" or value != tokens}
    name = FAMILY.canonical(f"{place.resolve().name}@{digest[:8]}", shown)
    return BackOff(ngrams, vocabulary, name, digest, asked)


def _asked(chosen: Mapping[str, str], tokens: str) -> Asked:
    return Asked(tokens, chosen["eos"] == "yes", chosen["case"] == "lower")


def _hash(path: Path) -> str:
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ModelError(f"ngram:{path}", f"can't be read ({error.strerror or error})", "a readable file") from None
