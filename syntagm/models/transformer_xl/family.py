"""The declaration of the family `transformer_xl`."""

from syntagm.models.family import Choice, Option, Value
from syntagm.models.recurrent.declaration import family, settings

FAMILY = family(
    "transformer_xl",
    "Word-level Transformer-XL models, imported by `syntagm import transformer_xl`.",
    (
        *settings(
            "the end-of-sentence symbol is read before a text, as before each line of the training text", batch=1024
        ),
        Option(
            "memory",
            Choice((
                Value("zeros", "as many vectors of zeros as the memory holds, which the model attends to, as in "
                      "transformers and in the authors' TensorFlow program"),
                Value("empty", "nothing, as in the authors' PyTorch program"),
            )),
            "zeros",
            "what precedes a text.",
        ),
        Option(
            "clusters",
            Choice((
                Value("in-order", "in the order of their words, as in transformers"),
                Value("reversed", "in the reverse order, as in the authors' PyTorch program"),
            )),
            "in-order",
            "the order of the probabilities of the rare words' clusters in the softmax. The wrong one gives a much "
            "higher perplexity.",
        ),
    ),
    ("dai-etal-2019-transformer",),
)  # fmt: skip
