"""Model weight (MW): of the probability that a model gives to the forms of a word list, how much goes to those that fit?

Newman et al. 2021: is the model's likely behaviour right?
"""

from typing import ClassVar

from syntagm.tasks.gaps.weight import Weight


class ModelWeight(Weight):
    """The sum of P(l+) over rows, divided by that of all forms, of one context.

    >>> str(ModelWeight()), ModelWeight.parse("model_weight(bottom=0.01)")
    ('model_weight', ModelWeight(top=1.0, bottom=0.01))
    """

    __slots__ = ()
    name: ClassVar = "model_weight"
