"""The model classes in the published raw data of Hu et al. 2020: names, labels and kinds."""

from dataclasses import dataclass

from syntagm.training import families


@dataclass(frozen=True, slots=True)
class ModelClass:
    """A class of models."""

    name: str  # the name of the class in the raw data
    label: str  # the name of the class in the paper
    neural: bool = True  # whether it is a neural network
    whole_words: bool = False  # whether it is a neural model over whole words; perplexities can be compared among these
    pretrained: bool = False  # whether it is a large transformer that others trained on much more text


MODELS = (
    ModelClass("vanilla", "LSTM", whole_words=True),
    ModelClass("ordered-neurons", "ON-LSTM", whole_words=True),
    ModelClass("rnng", "RNNG", whole_words=True),
    ModelClass("gpt-2", "GPT-2"),
    ModelClass("ngram", "n-gram", neural=False),
    ModelClass("grnn", "GRNN"),
    ModelClass("jrnn", "JRNN"),
    ModelClass("transformer-xl", "Transformer-XL"),
    ModelClass("gpt-2-pretrained", "GPT-2, pre-trained", pretrained=True),
    ModelClass("gpt-2-xl-pretrained", "GPT-2-XL, pre-trained", pretrained=True),
)
LABELS = {model.name: model.label for model in MODELS}
NEURAL = tuple(model.name for model in MODELS if model.neural)
WORD_BY_WORD = tuple(model.name for model in MODELS if model.whole_words)
PRETRAINED = tuple(model.name for model in MODELS if model.pretrained)
# These are in the raw data but not in the study: a unigram, and an n-gram model whose ties are not broken.
NOT_OF_THE_STUDY = ("1gram", "ngram-no-rand")
# Excluded from the figures by corpus, because the authors withdrew two of these models.
WITHDRAWN = "gpt-2"
WITHDRAWAL = "GPT-2: the authors later withdrew the models trained on MD and LG"
# The names of two classes, in the raw data and in experiments of our own.
ALL_NGRAMS = families.kin("ngram")
ALL_GPT2 = ("gpt-2", *families.kin("gpt2"))
# Family of an experiment -> the class of the publication.
CLASSES = {"lstm": "vanilla", "onlstm": "ordered-neurons", "gpt2": WITHDRAWN}


def label(model: str) -> str:
    """Return the name of a model in the paper.

    >>> label("vanilla"), label("toy")
    ('LSTM', 'toy')
    """
    return LABELS.get(model, model)
