"""Model weight (MW): the share of a word list's probability mass that goes to the forms that fit the context.

MW measures whether the model's likely behaviour is correct (Newman et al. 2021).
"""

from typing import ClassVar

from syntagm.tasks.gaps.weight import Weight


class ModelWeight(Weight):
    """The sum of P(l+) over rows divided by the sum over all forms, in one context.

    >>> str(ModelWeight()), ModelWeight.parse("model_weight(bottom=0.01)")
    ('model_weight', ModelWeight(top=1.0, bottom=0.01))
    """

    __slots__ = ()
    name: ClassVar = "model_weight"
