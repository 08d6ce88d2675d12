"""Make an experiment out of suites: the plan, and the texts that the experimenter edits."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil, inf, lcm
from pathlib import Path
from typing import Any

from syntagm.core import InputError, RunError, UsageError, atomic, counted, lock, record
from syntagm.evaluation import Kind, timed_words
from syntagm.experiment import maze, plan, presets, texts
from syntagm.experiment.designs import Design
from syntagm.experiment.plan import Exclusions, Plan, Role, Trial
from syntagm.models import LanguageModel
from syntagm.runs import well_formed
from syntagm.stats import Judgements, People, people_for
from syntagm.suites import Formula, Item, Sentence, Suite, sampled


def latin(
    trials: Sequence[Trial], others: Sequence[Trial], per_person: int | None
) -> tuple[tuple[tuple[int, bool], ...], ...]:
    """Return the lists of an experiment: for each the numbers of its trials, and for pairs which sentence comes first."""
    # In list l, item i has condition (i + l) modulo the number of conditions. If a person is to see fewer trials than
    # there are items, complete groups of items (one for each condition) are dealt to blocks. Of pairs, each list exists
    # twice, with opposite sides; within a list, the favoured sentence is first in every second pair of each condition
    # of a suite, and so in half of all pairs.
    items: dict[tuple[str, str], list[int]] = {}
    for number, trial in enumerate(trials):
        items.setdefault((trial.suite, trial.item), []).append(number)
    squares = lcm(*(len(conditions) for conditions in items.values())) if items else 1
    blocks = max(1, ceil(len(items) / per_person)) if per_person else 1
    sides = 2 if any(len(trial.texts) > 1 for trial in (*trials, *others)) else 1
    block = _blocks(items, blocks)
    # Groups are complete, so that blocks may differ by a group.
    while per_person and max(Counter(block.values()).values(), default=0) > per_person:
        blocks += 1
        block = _blocks(items, blocks)
    lists = []
    for number in range(blocks * squares * sides):
        part, square, side = number // (squares * sides), number // sides % squares, number % sides
        seen: dict[str, int] = {}
        shown = []
        for (suite, item), conditions in items.items():
            place = seen[suite] = seen.get(suite, -1) + 1
            if block[suite, item] == part:
                shown.append(conditions[(place + square) % len(conditions)])
        kinds = [(trials[trial].suite, trials[trial].condition) for trial in shown]
        first = zip(shown, _sides(kinds, side), strict=True)
        rest = zip(
            range(len(trials), len(trials) + len(others)),
            _sides([(other.role, other.suite, other.condition) for other in others], side), strict=True,
        )  # fmt: skip
        lists.append((*first, *rest))
    return tuple(lists)


def _sides(kinds: Sequence[tuple[str, ...]], side: int) -> list[bool]:
    """Return whether the favoured sentence comes first in each trial: every second time of each kind, and in half of all.

    Kinds with an odd number of trials have one more on one side; these sides alternate.

    Arguments:
        kinds: what trials are balanced within, such as suite and condition.
        side: 1 for the opposite sides.

    >>> _sides([("a",), ("b",), ("a",), ("b",)], 0), _sides([("a",), ("b",), ("c",)], 1)
    ([True, True, False, False], [False, True, False])
    """
    start: dict[tuple[str, ...], int] = {}
    for kind, count in Counter(kinds).items():
        start[kind] = side
        side += count % 2
    found = []
    for kind in kinds:
        found.append(start[kind] % 2 == 0)
        start[kind] += 1
    return found


def _blocks(items: Mapping[tuple[str, str], Sequence[int]], blocks: int) -> dict[tuple[str, str], int]:
    """Return the block of each item. Items that follow each other, one for each condition, share a block."""
    found, groups, places = {}, -1, dict[str, int]()
    for (suite, item), conditions in items.items():
        place = places[suite] = places.get(suite, -1) + 1
        if place % len(conditions) == 0:
            groups += 1
        found[suite, item] = groups % blocks
    return found


# Practice and attention checks for English, written for Syntagm: a sentence, and one that nobody should prefer.
PRACTICE = (
    ("The baker closed the shop early on Monday.", "The baker closed shop the Monday early on."),
    ("Two students were waiting outside the library.", "Two students was waiting outside the library."),
    ("My neighbour sold his old car last week.", "My neighbour sold him old car last week."),
    ("We could not find the key to the garden.", "We could not finding the key to the garden."),
)
CATCH = (
    ("The children ate their soup before the film began.", "Children the soup their ate film the before began."),
    ("A tall man opened the door for us.", "A man tall door the for us opened."),
    ("The nurse wrote the name of the patient on a card.", "The wrote nurse of name the patient card a on."),
    ("Nobody in the village remembered the old song.", "In nobody village the song remembered old the."),
    ("The train to the coast leaves at nine.", "Train the coast to nine leaves the at."),
    ("She put the letters into a small wooden box.", "She the letters into put wooden a box small."),
)


def of_suite(design: Design, suite: Suite, role: Role, prefix: str) -> list[Trial]:
    """Return the trials of a suite: for each item, one for each condition, or for each pair of the first prediction."""
    if not suite.items:
        raise InputError(f"suite {suite.name}", "no items", "at least one")
    if repeated := [name for name, count in Counter(item.id for item in suite.items).items() if count > 1]:
        raise InputError(f"suite {suite.name}", f"two items with the id {repeated[0]}", "each id once")
    make = _pairs if design.shows == 2 else _sentences
    trials: list[Trial] = []
    for item in suite.items:
        trials += make(design, suite, item, role, f"{prefix}{len(trials)}")
    return [replace(trial, id=f"{prefix}{number}") for number, trial in enumerate(trials)]


def pairs(suite: Suite) -> list[tuple[str, str]]:
    """Return the pairs of conditions that the first prediction compares: the favoured one, then the other."""
    # A comparison of one condition with another is a pair: the sentence with the smaller surprisal is favoured.
    if not suite.predictions:
        raise InputError(f"suite {suite.name}", "no prediction", "a prediction that compares two conditions")
    found = []
    for comparison in suite.predictions[0].formula.comparisons():
        pair = pair_of(comparison)
        if pair is None:
            raise InputError(
                f"suite {suite.name}", f"the comparison {comparison}", "one that compares two conditions",
                "A forced choice asks each comparison of the first prediction as a pair of sentences. For a difference of "
                "differences, use --design acceptability, or put a prediction with pairs first.",
            )  # fmt: skip
        found.append(pair)
    return list(dict.fromkeys(found))


def pair_of(comparison: Formula) -> tuple[str, str] | None:
    """Return the favoured and the other condition of a comparison; None if it isn't one of two conditions.

    >>> from syntagm.suites import parse
    >>> pair_of(parse("(verb;%good%) < (verb;%bad%)")), pair_of(parse("(1;%a%) - (1;%b%) < (1;%c%) - (1;%d%)"))
    (('good', 'bad'), None)
    """
    sides: dict[int, set[str]] = {1: set(), -1: set()}
    for sign, reference in comparison.terms():
        sides[sign].add(reference.condition)
    if comparison.tree.operator == "=" or len(sides[1]) != 1 or len(sides[-1]) != 1 or sides[1] == sides[-1]:
        return None
    return sides[-1].pop(), sides[1].pop()


def _pairs(design: Design, suite: Suite, item: Item, role: Role, name: str) -> Iterator[Trial]:
    question, answer = _question(item)
    for good, bad in pairs(suite):
        if missing := {good, bad} - item.sentences.keys():
            raise InputError(
                f"suite {suite.name}, item {item.id}", f"no condition {missing.pop()!r}", "both of the pair"
            )
        texts = (item.sentences[good].text, item.sentences[bad].text)
        if texts[0] == texts[1]:
            raise InputError(f"suite {suite.name}, item {item.id}", "two equal sentences", "a choice", "Leave it out.")
        yield Trial(
            name, role, suite.name, item.id, f"{good}/{bad}", texts, (good, bad), good, question=question, answer=answer
        )


def _sentences(design: Design, suite: Suite, item: Item, role: Role, name: str) -> Iterator[Trial]:
    conditions = tuple(suite.items[0].sentences)
    if set(conditions) != set(item.sentences):
        raise InputError(
            f"suite {suite.name}, item {item.id}", "other conditions than the first item", ", ".join(conditions),
            "A Latin square needs the same conditions in all items.",
        )  # fmt: skip
    expected = _expected(design, suite) if role == "catch" else {}
    question, answer = _question(item)
    for condition in conditions:
        sentence = item.sentences[condition]
        yield Trial(
            name, role, suite.name, item.id, condition, (sentence.text,), design.choices, expected.get(condition, ""),
            timed_words(sentence) if design.timed else (), question=question, answer=answer,
        )  # fmt: skip


def _question(item: Item) -> tuple[str, str]:
    """Return the question after an item's sentence and its answer, which are tags of the item."""
    question, answer = item.tags.get("question", ""), item.tags.get("answer", "").lower()
    if question and answer not in ("yes", "no"):
        raise InputError(f"item {item.id}, tag answer", repr(answer), "yes or no, for the tag question")
    return question, answer if question else ""


def _expected(design: Design, suite: Suite) -> dict[str, str]:
    good, bad = pairs(suite)[0]
    return dict(zip((good, bad), ("yes", "no") if design.answer == "choice" else ("high", "low"), strict=True))


def built_in(design: Design, pairs_of: Sequence[tuple[str, str]], role: Role) -> list[Trial]:
    """Return practice or catch trials out of pairs of sentences; every second one shows the bad sentence alone."""
    trials = []
    for number, sentences in enumerate(pairs_of):
        name, item, good = f"{role[0]}{number}", str(number + 1), number % 2 == 0
        if design.shows == 2:
            trials.append(Trial(name, role, role, item, "good/bad", sentences, ("good", "bad"), "good"))
            continue
        shown = sentences[0] if good or design.timed else sentences[1]
        expected = ("yes" if good else "no") if design.answer == "choice" else ("high" if good else "low")
        trials.append(
            Trial(
                name, role, role, item, "good" if good or design.timed else "bad", (shown,), design.choices,
                "" if design.timed or role == "practice" else expected,
                timed_words(Sentence(shown)) if design.timed else (),
            )
        )  # fmt: skip
    return trials


# A plan with more would not fit into a browser, nor into an hour.
MAX_TRIALS = 200_000
MAX_PEOPLE = 100_000
_ANALYSES = {
    "choice": (
        "The share of answers as predicted, by suite and over suites, with 95% intervals for other people and other items.",
        "The majority of each item; Krippendorff's alpha.",
    ),
    "rating": (
        "The mean rating of each condition, and the difference between the two sides of each comparison of the predictions, "
        "with 95% intervals for other people and other items.",
        "Krippendorff's alpha for intervals.",
    ),
    "times": (
        "The difference in ms between the two sides of each comparison of the predictions, in each region, with 95% "
        "intervals for other people and other items.",
    ),
}


@dataclass(frozen=True, slots=True)
class Wishes:
    design: Design
    participants: int  # the number of people
    seed: int = 1  # the seed of lists, orders and distractors
    # `fillers`, `catch`, `practice`: suites for these trials. Without suites, catch and practice trials are PRACTICE and
    # CATCH, if `built_in`.
    fillers: Sequence[Suite] = ()
    catch: Sequence[Suite] = ()
    practice: Sequence[Suite] = ()
    built_in: bool = True  # whether there are English catch and practice trials without suites for them
    per_person: int | None = None  # the largest number of critical trials of a person; None for one of each item
    attention: tuple[str, ...] = ()  # names of suites whose trials also count as catch trials
    exclusions: Exclusions = field(default_factory=Exclusions)  # the exclusion rules
    analyses: tuple[str, ...] = ()  # planned analyses besides those of the design
    preset: str = ""  # the name of the protocol, or ""
    errors: str = "redo"  # for a maze: whether a sentence goes on after a mistake (`redo`) or ends (`stop`)


def of_preset(name: str, suites: Sequence[Suite], wishes: Wishes) -> tuple[list[Suite], Wishes]:
    """Return the items that a protocol uses, and the wishes with what it fixes."""
    preset = presets.find(name)
    chosen, attention = [], []
    for suite in suites:
        attends = bool(preset.attention) and preset.attention in suite.name
        if attends:
            attention.append(suite.name)
        times = preset.attention_times if attends else 1
        if preset.first:
            suite = replace(suite, items=suite.items[: preset.first])
        elif preset.sample:
            suite = sampled(suite, preset.sample * times, wishes.seed)
        chosen.append(suite)
    rule = (
        f"A suite is accepted if the majority agrees on at least {preset.accepted} of its items.",
    ) if preset.accepted else ()  # fmt: skip
    blocks = ceil(sum(len(suite.items) for suite in chosen) / wishes.per_person) if wishes.per_person else 1
    wishes = replace(wishes, participants=wishes.participants or preset.participants * max(1, blocks))
    return chosen, replace(wishes, preset=name, attention=tuple(attention), exclusions=preset.exclusions, analyses=rule)


def for_precision(
    wishes: Wishes, suites: Sequence[Suite], reach: float, pilot: Judgements, each_suite: bool = False
) -> Wishes:
    """Return the wishes with as many people as make the 95% interval as narrow as wished, on average over studies."""
    # The interval is that of the mean over the items of all suites (of pairs, the share of answers as predicted;
    # otherwise the difference of the two conditions), for other people and other items. People and items vary as in the
    # pilot.
    if not 0 < reach < inf:
        raise UsageError("--precision", f"{reach:g}", "a number above 0, in the unit of the answers")
    kind = Kind.VERDICT if wishes.design.answer == "choice" else Kind.NUMBER
    if pilot.kind is not kind or (pilot.second is None) != (wishes.design.shows == 2):
        found = "choices" if pilot.kind is Kind.VERDICT else "ratings or times"
        found += " without conditions" if pilot.second is None else " in two conditions"
        raise UsageError("--pilot", found, f"answers of the design {wishes.design.name}")
    items = sum(len(suite.items) for suite in suites)
    per_person = min(wishes.per_person or items, items)
    if each_suite:
        least = min(len(suite.items) for suite in suites)
        items, per_person = least, max(1, round(least * per_person / items))
    return replace(wishes, participants=people_for(People(pilot, 0.5), reach, items, per_person))


def planned(
    suites: Sequence[Suite],
    wishes: Wishes,
    model: LanguageModel | None = None,
    words: Path | None = None,
    done: Callable[[int], None] | None = None,
) -> Plan:
    design = wishes.design
    if wishes.participants < 1:
        raise UsageError("--participants", str(wishes.participants), "at least 1")
    if wishes.participants > MAX_PEOPLE:
        raise UsageError("--participants", f"{wishes.participants:,}", f"at most {MAX_PEOPLE:,}")
    if wishes.per_person is not None and wishes.per_person < 1:
        raise UsageError("--per-person", str(wishes.per_person), "at least 1")
    if not suites:
        raise UsageError("SUITES", "none", "at least one suite")
    if repeated := [name for name, count in Counter(suite.name for suite in suites).items() if count > 1]:
        raise InputError(f"suite {repeated[0]}", "two suites with this name", "only one")
    # What a run would refuse could be asked, but its answers could never become results.
    suites = list(well_formed(suites))
    critical: list[Trial] = []
    for number, suite in enumerate(suites):
        critical += of_suite(design, suite, "critical", f"{number}.")
    group = _largest_group(critical)
    if wishes.per_person is not None and wishes.per_person < group:
        cure = "Items are dealt in groups with one item for each condition, so that conditions stay balanced."
        raise UsageError("--per-person", str(wishes.per_person), f"at least {group}", cure)
    if design.timed and wishes.catch:
        cure = "Add the tags question and answer to items, and exclude by --exclude-questions."
        raise UsageError("--catch", f"the design {design.name}, in which nothing is judged", "no catch trials", cure)
    preset = presets.find(wishes.preset) if wishes.preset else None
    practice, fillers, checks = (_others(design, wishes, role) for role in ("practice", "filler", "catch"))
    if preset and preset.items_per_check:
        seen = min(wishes.per_person or MAX_TRIALS, sum(len(suite.items) for suite in suites))
        checks = checks[: ceil(seen / preset.items_per_check)]
    others = [*practice, *fillers, *checks]
    if len(critical) + len(others) > MAX_TRIALS:
        raise UsageError("SUITES", f"{len(critical) + len(others):,} trials", f"at most {MAX_TRIALS:,}", "Use --limit.")
    notes = [preset.recruiting] if preset and preset.recruiting else []
    if design.name == "maze":
        if model is None:
            raise UsageError("--design maze", "no model for the distractors", "--model MODEL")
        distracted = maze.distracted([*critical, *others], model, wishes.seed, maze.lexicon(words), done)
        critical, others = list(distracted.trials[: len(critical)]), list(distracted.trials[len(critical) :])
        if distracted.weak:
            count = counted(len(distracted.weak), "distractor")
            notes.append(
                f"{count} less than {maze.GAP:g} bits less likely than the word beside: "
                + "; ".join(distracted.weak[:5])
                + ("; ..." if distracted.weak[5:] else "")
            )
    found = latin(critical, others, wishes.per_person)
    notes += _unbalanced(suites, critical, len(found), wishes.participants)
    notes += _confounded(suites, critical, found[0])
    analyses = (*_ANALYSES[design.answer], *wishes.analyses)
    options: dict[str, Any] = {
        "attention": list(wishes.attention),
        **({"questions": preset.questions} if preset and preset.questions else {}),
        **({"errors": wishes.errors, "model": model.name} if model is not None and design.name == "maze" else {}),
    }
    return Plan(
        design, wishes.participants, wishes.seed, wishes.preset, tuple(suites), (*critical, *others), found,
        wishes.exclusions, analyses, options, tuple(notes),
    )  # fmt: skip


def _largest_group(critical: Sequence[Trial]) -> int:
    """Return the most items that stay together in a list: one for each condition, or all of a small suite."""
    items: dict[str, Counter[str]] = {}
    for trial in critical:
        items.setdefault(trial.suite, Counter())[trial.item] += 1
    return max((min(max(counts.values()), len(counts)) for counts in items.values()), default=1)


def _others(design: Design, wishes: Wishes, role: Role) -> list[Trial]:
    """Return the trials of a role that everybody sees: those of suites, or built-in ones."""
    # Of the conditions of an item, one is shown: the first of the first item, the second of the second, and so on.
    suites = {"practice": wishes.practice, "filler": wishes.fillers, "catch": wishes.catch}[role]
    if not suites and wishes.built_in and role != "filler":
        if role == "catch" and design.timed:
            return []
        return built_in(design, PRACTICE if role == "practice" else CATCH, role)
    chosen = []
    for number, suite in enumerate(suites):
        by_item: dict[str, list[Trial]] = {}
        for trial in of_suite(design, suite, role, f"{role[0]}{number}."):
            by_item.setdefault(trial.item, []).append(trial)
        chosen += [conditions[place % len(conditions)] for place, conditions in enumerate(by_item.values())]
    return chosen


def _unbalanced(suites: Sequence[Suite], trials: Sequence[Trial], count: int, participants: int) -> list[str]:
    notes = []
    if participants % count:
        whole = -(-participants // count) * count
        notes.append(
            f"There are {counted(count, 'list')}, and {participants} people: conditions are balanced over people with "
            f"{whole}."
        )
    for suite in suites:
        conditions = len({trial.condition for trial in trials if trial.suite == suite.name})
        if len(suite.items) % conditions:
            notes.append(
                f"{suite.name} has {counted(len(suite.items), 'item')} and {conditions} conditions: within a person, "
                "conditions differ by one item."
            )
    return notes


# A tag whose values have fewer items is a name of sets of items, such as a lexical set, rather than a factor.
_FACTOR = 3


def _confounded(suites: Sequence[Suite], trials: Sequence[Trial], shown: Sequence[tuple[int, bool]]) -> list[str]:
    """Return a sentence for each tag of items whose values a person sees in one condition, or on one side, each."""
    notes = []
    seen: dict[str, dict[str, tuple[str, bool | None]]] = {}
    for number, first in shown:
        if number < len(trials):
            trial = trials[number]
            how = (trial.condition, first if len(trial.texts) > 1 else None)
            seen.setdefault(trial.suite, {})[trial.item] = how
    for suite in suites:
        ways = seen.get(suite.name, {})
        items = [item for item in suite.items if item.id in ways]
        for tag in dict.fromkeys(name for item in items for name in item.tags):
            values = Counter(item.tags.get(tag, "") for item in items)
            pairs = {(item.tags.get(tag, ""), ways[item.id]) for item in items}
            # Where each value has one way, there are as many of both together as of values.
            if len(pairs) == len(values) > 1 and len({way for _, way in pairs}) > 1 and min(values.values()) >= _FACTOR:
                what = "condition" if len({way[0] for _, way in pairs}) > 1 else "side of the favoured sentence"
                notes.append(
                    f"{suite.name}: within a person, the {what} follows from the tag {tag}, as conditions go round in the "
                    f"order of the items. Sort the items by {tag}."
                )
    return notes


def write(made: Plan, folder: Path) -> None:
    """Write an experiment: the plan, and the texts and settings that don't exist yet."""
    with lock.held(folder), atomic.used_folder(folder):
        path = folder / plan.NAME
        if path.exists():
            if plan.PLAN.read(path) != {"format": plan.PLAN.format, **_as_read(made)}:
                cure = "Choose another folder: a plan is not changed once it is made."
                raise RunError(str(path), "another plan", "the same plan", cure)
        else:
            plan.write(made, folder)
        texts.write(folder, made)


def _as_read(made: Plan) -> dict[str, object]:
    from syntagm.core import json as strict_json

    content: dict[str, object] = strict_json.own(record.encoded(made.content()), plan.NAME)
    return content
