"""A model of your own in Python: a hidden Markov model that knows the number of the subject.

    syntagm conform python:examples/agreement.py --allow-exec
    syntagm score python:examples/agreement.py --allow-exec "the dog near the cats barks"

The states remember the number of the subject across a phrase that modifies it. A surprisal is computed by the forward
algorithm: it is the decrease of log2 of the probability of all sequences of states.
"""

import math
import re

WORDS = {
    "the": ["the", "no", "a"],
    "noun": ["dog", "cat", "teacher", "dogs", "cats", "teachers"],
    "one": ["dog", "cat", "teacher"],
    "many": ["dogs", "cats", "teachers"],
    "near": ["near", "behind", "with"],
    "is": ["barks", "sleeps", "knows"],
    "are": ["bark", "sleep", "know"],
    "else": ["often", "here", "today"],
}
# State -> the words that it emits, and the probabilities of the states after it.
STATES = {
    "start": ("the", {"one": 0.5, "many": 0.5}),
    "one": ("one", {"one is": 0.7, "one near": 0.3}),
    "many": ("many", {"many are": 0.7, "many near": 0.3}),
    "one near": ("near", {"one the": 1.0}),
    "many near": ("near", {"many the": 1.0}),
    "one the": ("the", {"one noun": 1.0}),
    "many the": ("the", {"many noun": 1.0}),
    "one noun": ("noun", {"one is": 0.7, "one near": 0.3}),
    "many noun": ("noun", {"many are": 0.7, "many near": 0.3}),
    "one is": ("is", {"end": 1.0}),
    "many are": ("are", {"end": 1.0}),
    "end": ("else", {"end": 1.0}),
}
# Any unknown word is this one.
UNKNOWN = "<unknown>"
VOCABULARY = sorted({word for words in WORDS.values() for word in words} | {UNKNOWN})


def emitted(state: str, word: str) -> float:
    """Return the probability that a state emits a word: a tenth of it is shared by all words."""
    words = WORDS[STATES[state][0]]
    return 0.9 * (word in words) / len(words) + 0.1 / len(VOCABULARY)


class Agreement:
    """The model, with what Syntagm wants to know of it."""

    name = "agreement"
    # The file itself is part of the fingerprint. Name here what else the numbers depend on, such as weights.
    fingerprint = "no other files"
    sees = "left"
    exact = True
    bos = "the state start"
    eos = None
    words = VOCABULARY

    def score(self, texts: list[str]) -> list[dict[str, list[object]]]:
        """Return an answer for each text."""
        return [self.surprisals(text) for text in texts]

    def surprisals(self, text: str) -> dict[str, list[object]]:
        """Return the start of each token, its bits, and whether the model knows it."""
        # White space belongs to the token after it.
        tokens = re.findall(r"\s*\S+", text)
        starts, bits, known = [], [], []
        masses, at = {"start": 1.0}, 0
        for token in tokens:
            word = token.strip().lower()
            known.append(word in VOCABULARY)
            masses = {state: mass * emitted(state, word if known[-1] else UNKNOWN) for state, mass in masses.items()}
            total = sum(masses.values())
            starts.append(at)
            bits.append(-math.log2(total))
            at += len(token)
            after: dict[str, float] = {}
            for state, mass in masses.items():
                for target, probability in STATES[state][1].items():
                    after[target] = after.get(target, 0.0) + mass / total * probability
            masses = after
        return {"starts": starts, "bits": bits, "known": known}
