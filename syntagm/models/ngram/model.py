"""N-gram models: folders written by `syntagm train ngram`, ARPA files and KenLM's binary files.

Names: `ngram:FOLDER`, `ngram:FILE.arpa`, `ngram:FILE.arpa.gz`, `ngram:FILE.binary` (needs the package kenlm: `pip install
syntagm[kenlm]`). Each text is scored after `<s>`.

Words that are not in the vocabulary are marked as unknown. The same word after the same history always has exactly the same
surprisal.
"""

from collections.abc import Mapping
from pathlib import Path

from syntagm.core import ModelError, UsageError, hashing
from syntagm.models.family import choice
from syntagm.models.ngram import arpa, folder, kenlm
from syntagm.models.ngram.back_off import BackOff
from syntagm.models.ngram.family import FAMILY
from syntagm.models.ngram.kenlm import KenLM
from syntagm.models.ngram.scorer import Tokenisation
from syntagm.models.words.vocabulary import Vocabulary
from syntagm.models.words.words import unsplit


def check(name: str, path: str, chosen: Mapping[str, str]) -> None:
    """Refuse a file or folder that does not exist; see `Family.checks`."""
    if not path or not (place := Path(path)).exists():
        raise ModelError(f"{name}:{path}", "no such file or folder", "a trained folder, an ARPA file, a KenLM binary")
    if not (place.is_dir() or place.is_file()):
        raise ModelError(f"{name}:{path}", "not a regular file", "a file", "A pipe can't be read twice.")


def load(path: str, **options: str) -> BackOff | KenLM:
    """Load an n-gram model."""
    chosen, place = FAMILY.choose(options), Path(path)
    check(FAMILY.name, path, chosen)
    if place.is_dir():
        return _of_folder(place, chosen, options)
    tokenisation = _tokenisation(chosen, chosen.get("tokens", "blanks"))
    digest = _hash(place)
    name = FAMILY.canonical(f"{place.name}@{digest[:8]}", options)
    if kenlm.is_binary(place):
        if "unknown" in options:
            raise UsageError("model option unknown", "a KenLM binary, whose words can't be listed", "an ARPA file")
        return KenLM(place, name, digest, tokenisation)
    ngrams = arpa.read(place)
    vocabulary = Vocabulary(ngrams.words[:-1], 1, "berkeley" if chosen.get("unknown") == "berkeley" else "none")
    return BackOff(ngrams, vocabulary, name, digest, tokenisation)


def _of_folder(place: Path, chosen: Mapping[str, str], options: Mapping[str, str]) -> BackOff:
    if "unknown" in options:
        raise UsageError("model option unknown", "given with a folder, which already records it", "no such option")
    ngrams, vocabulary, tokens, digest = folder.read(place)
    # Only a model trained with `auto` may be used with any value: others must split texts as in training, unless a text is
    # already split.
    if tokens != "auto" and "tokens" in options:
        choice(list(dict.fromkeys([tokens, unsplit(tokens)]))).read("model option tokens", options["tokens"])
    tokenisation = _tokenisation(chosen, chosen.get("tokens", tokens))
    shown = {key: value for key, value in options.items() if key != "tokens" or value != tokens}
    name = FAMILY.canonical(f"{place.resolve().name}@{digest[:8]}", shown)
    return BackOff(ngrams, vocabulary, name, digest, tokenisation)


def _tokenisation(chosen: Mapping[str, str], tokens: str) -> Tokenisation:
    return Tokenisation(tokens, chosen["eos"] == "yes", chosen["case"] == "lower")


def _hash(path: Path) -> str:
    try:
        return hashing.of_file(path)
    except OSError as error:
        raise ModelError(f"ngram:{path}", f"can't be read ({error.strerror or error})", "a readable file") from None
