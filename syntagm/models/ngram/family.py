"""The declaration of the family `ngram`."""

from syntagm.models.family import NO_YES, Family, Fixed, Option, Program, Value, choice
from syntagm.models.words.splitting import KINDS

FAMILY = Family(
    name="ngram",
    summary="Back-off n-gram models: folders written by `syntagm train ngram`, ARPA files, KenLM's binary files.",
    module="syntagm.models.ngram.model",
    checks="syntagm.models.ngram.model",
    endings=(".arpa", ".arpa.gz", ".binary", ".klm"),
    settings=(
        Fixed("bos", Value("yes")),
        Option(
            "eos", NO_YES, "no",
            "whether the surprisal of `</s>` is listed. It belongs to no region and only counts in whole sentences",
        ),
        Option(
            "tokens", choice(KINDS), "",
            "how a text is split into words. `blanks`: at white space; `treebank`: by NLTK's Penn Treebank tokenizer. A folder "
            "only accepts the value used in training, `blanks` for texts that are already split, or any value if that was "
            "`auto`",
            depends="as in training; `blanks` for files from other programs",
        ),
        Option(
            "case", choice(["keep", "lower"]), "keep",
            "`lower`: look words up in lower case, for a model trained on lower-cased text",
        ),
        Option(
            "unknown", choice(["single", "berkeley"]), "",
            "ARPA files only: whether unknown words become `<unk>`, or the classes of unknown words in the file",
            depends="`single`; folders record their value",
        ),
    ),
    can=("score", "reduce", "fill", "best"),
    references=("kneser-ney-1995-improved", "chen-goodman-1999-empirical"),
    programs=(Program("kenlm", "KenLM", ("heafield-2011-kenlm",)),),
)  # fmt: skip
