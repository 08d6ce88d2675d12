"""Equal weight (EW): in how many of the pairs of a word list is the form that fits the context the likelier one?

Newman et al. 2021: is the model's behaviour systematic, whatever word it is?
"""

from typing import ClassVar

from syntagm.tasks.gaps.weight import Weight


class EqualWeight(Weight):
    """The mean over rows of [P(l+) > P(l-)], of one context; equal probabilities count as wrong.

    >>> str(EqualWeight(top=0.9)), EqualWeight.parse("equal_weight")
    ('equal_weight(top=0.9)', EqualWeight(top=1.0, bottom=1.0))
    """

    __slots__ = ()
    name: ClassVar = "equal_weight"
