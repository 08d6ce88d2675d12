"""The model classes in the published raw data of Hu et al. 2020: what each is called, and what kind it is of."""

from dataclasses import dataclass

from syntagm.training import families


@dataclass(frozen=True, slots=True)
class ModelClass:
    """One class of models.

    Arguments:
        name: in the raw data.
        label: in the paper.
        neural: is it a neural network?
        whole_words: is it a neural model that reads whole words, so that perplexities can be compared within this kind?
        pretrained: is it a big transformer that was trained by others, on much more text?
    """

    name: str
    label: str
    neural: bool = True
    whole_words: bool = False
    pretrained: bool = False


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
LABELS = {one.name: one.label for one in MODELS}
NEURAL = tuple(one.name for one in MODELS if one.neural)
WORD_BY_WORD = tuple(one.name for one in MODELS if one.whole_words)
PRETRAINED = tuple(one.name for one in MODELS if one.pretrained)
# In the raw data, but no models of the study: a unigram, and an n-gram whose ties are not broken.
NOT_OF_THE_STUDY = ("1gram", "ngram-no-rand")
# Left out of the figures by corpus, since the authors withdrew two of them.
WITHDRAWN = "gpt-2"
WITHDRAWAL = "GPT-2: the authors later withdrew the models trained on MD and LG"
# Two kinds, as the raw data and as experiments of our own call them.
ALL_NGRAMS = families.kin("ngram")
ALL_GPT2 = ("gpt-2", *families.kin("gpt2"))


def label(model: str) -> str:
    """What a model is called in the paper.

    >>> label("vanilla"), label("toy")
    ('LSTM', 'toy')
    """
    return LABELS.get(model, model)
