"""The family `ngram`: what it has and what can be chosen."""

from syntagm.models.family import Family, Program
from syntagm.models.option import NO_YES, Fixed, Option, Value, choice
from syntagm.models.words.words import KINDS

FAMILY = Family(
    name="ngram",
    summary="Back-off n-grams: folders that `syntagm train ngram` makes, ARPA files, KenLM's binary files.",
    module="syntagm.models.ngram.model",
    settings=(
        Fixed("bos", Value("yes")),
        Option(
            "eos", NO_YES, "no",
            "is the surprisal of `</s>` listed? It belongs to no region and counts in whole sentences",
        ),
        Option(
            "tokens", choice(KINDS), "",
            "what words are. Folders refuse another way of dividing a text than in training unless that was `auto`; with "
            "`blanks` white space divides the text as it stands, with `treebank` NLTK's Penn Treebank tokenizer does",
            depends="as in training; `blanks` for files of other programs, which don't say",
        ),
        Option(
            "case", choice(["keep", "lower"]), "keep",
            "look words up as they are, or in lower case, for a model of a text in lower case",
        ),
        Option(
            "unknown", choice(["single", "berkeley"]), "",
            "ARPA files only: unknown words are `<unk>`, or the classes of unknown words that the file has",
            depends="`single`; folders say it",
        ),
    ),
    references=("kneser-ney-1995-improved", "chen-goodman-1999-empirical"),
    programs=(Program("kenlm", "KenLM", ("heafield-2011-kenlm",)),),
)  # fmt: skip
