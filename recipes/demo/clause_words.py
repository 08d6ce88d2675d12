"""Word classes by lists, spelling and counts, for `recipes.demo.clauses`."""

import re
from collections import Counter
from collections.abc import Iterable

from syntagm.suites import read_word_list

AUXILIARIES = {"is": "are", "was": "were", "has": "have", "does": "do"}
FORMS_OF_AUXILIARIES = frozenset(AUXILIARIES) | frozenset(AUXILIARIES.values())
SINGULAR = frozenset({
    "a", "an", "this", "each", "every", "another", "one", "either", "neither", "something", "anything", "nothing", "everyone",
    "everybody", "nobody",
})  # fmt: skip
PLURAL = frozenset({"these", "those", "many", "several", "few", "both", "two", "three", "four", "five", "six"})
DEFINITE = frozenset({"the", "my", "his", "her", "its", "our", "your", "their"})
OTHERS = frozenset({"some", "any", "no", "such", "all", "most", "other"})
DETERMINERS = SINGULAR | PLURAL | DEFINITE | OTHERS
# Words that can be the subject without a noun: `One of the men`, `Those who came`.
ALONE = frozenset({
    "one", "each", "either", "neither", "something", "anything", "nothing", "everyone", "everybody", "nobody", "those", "these",
})  # fmt: skip
RELATIVES = frozenset({"who", "whom", "whose", "which", "that"})
PRONOUNS = frozenset({"i", "you", "he", "she", "it", "we", "they", "there"})
PREPOSITIONS = frozenset({
    "of", "in", "on", "at", "by", "for", "with", "from", "to", "into", "upon", "over", "under", "behind", "beside", "near",
    "above", "below", "about", "around", "through", "across", "between", "among", "against", "before", "after", "beyond",
    "within", "without", "along", "toward", "towards", "outside", "inside", "beneath", "round", "opposite",
})  # fmt: skip
COORDINATORS = frozenset({"and", "or", "nor", "but"})
# After these a form without an ending is no finite verb.
BEFORE_INFINITIVES = frozenset({
    "to", "not", "can", "could", "will", "would", "shall", "should", "may", "might", "must", "did", "do", "does",
})  # fmt: skip
# Words that follow a finite verb rather than a noun with the same spelling.
_OBJECTS = frozenset(
    {"him", "me", "us", "them", "himself", "itself", "that", "what", "how", "not", "to", "in", "at", "with", "upon"}
)
BEHIND_VERBS = DETERMINERS | PRONOUNS | _OBJECTS
ADVERBS = frozenset({
    "always", "never", "still", "now", "also", "ever", "then", "often", "soon", "next", "close", "out", "up", "here", "there",
})  # fmt: skip
IRREGULAR = {
    "man": "men",
    "woman": "women",
    "child": "children",
    "foot": "feet",
    "tooth": "teeth",
    "gentleman": "gentlemen",
}
PLURAL_NOUNS = frozenset(IRREGULAR.values()) | {"people", "police", "cattle", "mice", "geese", "oxen"}
CONJUNCTIONS = frozenset(
    {"that", "when", "while", "because", "although", "though", "whether", "if", "how", "why", "what"}
)


def is_plural(noun: str) -> bool:
    """Check by its spelling whether a noun is plural."""
    return noun in PLURAL_NOUNS or (
        len(noun) > 3 and noun.endswith("s") and not noun.endswith(("ss", "us", "is", "'s"))
    )


class Lexicon:
    """Word classes from a word list of verbs and the word counts of a text.

    Arguments:
        texts: the sentences. A noun form is taken to exist if it occurs at least three times.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        # Capitalized words are skipped, because many are names.
        self.counts = Counter(word for text in texts for word in re.findall(r"\b[a-z]+\b", text))
        rows = [row for row in read_word_list("verbs").rows if row.forms[0] not in AUXILIARIES]
        known = [row for row in rows if int(row.tags["frequency"] or 0) >= 5]
        self.other_verb = AUXILIARIES | {plural: singular for singular, plural in AUXILIARIES.items()}
        self.other_verb |= {form: row.forms[1 - label] for row in known for label, form in enumerate(row.forms)}
        self.verbs = {form: label == 1 for row in known for label, form in enumerate(row.forms)}
        self.verbs |= {
            form: plural for pair in AUXILIARIES.items() for form, plural in zip(pair, (False, True), strict=True)
        }
        self.nominal = frozenset(form for row in known if row.tags["noun"] for form in row.forms)
        self.past = frozenset(row.forms[1] for row in known if row.tags["past"])

    def other_noun(self, noun: str) -> str | None:
        """Return the form of a noun in the other number, or None if the text does not have it."""
        forms = _singular(noun) if is_plural(noun) else _plural(noun)
        attested = [form for form in forms if self.counts[form] >= 3 and 200 * self.counts[form] > self.counts[noun]]
        return max(attested, key=self.counts.__getitem__, default=None)


def _singular(noun: str) -> list[str]:
    irregular = [singular for singular, plural in IRREGULAR.items() if plural == noun]
    endings = (("ies", "y"), ("ves", "f"), ("ves", "fe"), ("es", ""), ("s", ""))
    return irregular or [noun.removesuffix(end) + new for end, new in endings if noun.endswith(end)]


def _plural(noun: str) -> list[str]:
    if noun in IRREGULAR:
        return [IRREGULAR[noun]]
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return [noun[:-1] + "ies"]
    return [noun + ("es" if noun.endswith(("s", "x", "z", "ch", "sh")) else "s")]
