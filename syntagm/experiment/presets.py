"""The protocols of published experiments on people, as presets of `syntagm experiment make --preset`."""

from collections.abc import Mapping
from dataclasses import dataclass

from syntagm.core import UsageError, did_you_mean
from syntagm.experiment.plan import Exclusions


@dataclass(frozen=True, slots=True)
class Preset:
    name: str
    summary: str  # whose protocol it is, and what it differs in
    design: str
    participants: int  # the number of people on each list of items
    exclusions: Exclusions  # the exclusion rules
    first: int | None = None  # how many items of each suite are used: the first ones; None for a random sample
    sample: int | None = None  # how many items of each suite are drawn at random, if `first` is None
    # The part of the names of those suites that also check attention, with `attention_times` as many items.
    attention: str = ""
    attention_times: int = 1
    accepted: int = 0  # the number of items of a suite that the majority must judge as predicted; 0 for no such rule
    items_per_check: int = 0  # how many critical trials there are for each catch trial; 0 for all catch trials
    # Asked at the end: the text, and the answer that excludes; "" for any answer to a hidden question.
    questions: tuple[tuple[str, str], ...] = ()
    confirmed: str = ""  # what people confirm on the consent form, besides their age
    recruiting: str = ""  # whom the experimenter recruits, which pages can't check


PRESETS: Mapping[str, Preset] = {
    preset.name: preset
    for preset in (
        Preset(
            "warstadt2020",
            "BLiMP (Warstadt et al. 2020): forced choice, the first five pairs of each paradigm, 20 judgements of each pair; "
            "a paradigm is accepted if the majority agrees on four of them. An attention check for four pairs, at most six of "
            "ours for a person, and a hidden question, which only machines see.",
            "forced-choice", 20, Exclusions(catch=0.75), first=5, accepted=4, items_per_check=4,
            questions=(
                ("Are you in the United States now? (yes or no)", "no"),
                ("Is English your first language? (yes or no)", "no"),
                ("What is seven plus four?", ""),
            ),
            confirmed=", that you are in the United States, that English is your first language",
            recruiting="Recruit people in the United States only, with your panel's filter of locations, as the paper did on "
            "Mechanical Turk. Pages don't know where people are: they ask.",
        ),
        Preset(
            "marvin2018",
            "Marvin & Linzen 2018: forced choice, ten pairs of each construction drawn at random, and five times as many of "
            "simple agreement as an attention check. Their numbers of people and exclusions are in a supplement that was not "
            "available: 20 people for each pair, and the rule of 75%, are ours.",
            "forced-choice", 20, Exclusions(catch=0.75), sample=10, attention="simple_agrmt", attention_times=5,
        ),
    )
}  # fmt: skip


def find(name: str) -> Preset:
    if name not in PRESETS:
        raise UsageError("--preset", repr(name), "one of " + ", ".join(PRESETS), did_you_mean(name, PRESETS))
    return PRESETS[name]
