"""Equal weight (EW): the proportion of a word list's pairs in which the form that fits the context is more likely.

EW measures whether the model's behaviour is systematic, that is, independent of the word (Newman et al. 2021).
"""

from typing import ClassVar

from syntagm.tasks.gaps.weight import Weight


class EqualWeight(Weight):
    """The mean of [P(l+) > P(l-)] over rows, in one context. Equal probabilities count as wrong.

    >>> str(EqualWeight(top=0.9)), EqualWeight.parse("equal_weight")
    ('equal_weight(top=0.9)', EqualWeight(top=1.0, bottom=1.0))
    """

    __slots__ = ()
    name: ClassVar = "equal_weight"
