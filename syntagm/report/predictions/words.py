"""What a page about predictions says in sentences that depend on its numbers, and the articles about suites."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from syntagm.core import counted
from syntagm.evaluation import Estimate, SuiteRecord
from syntagm.report import html, numbers
from syntagm.report.html import HtmlTable, isolate, join, list_tags, writing_of
from syntagm.report.numbers import Subject, number
from syntagm.report.predictions import items, scores, tables
from syntagm.report.predictions.evidence import Evidence, SuiteOnPage
from syntagm.report.predictions.items import prediction_in_words
from syntagm.report.predictions.model_pairs import IN_HEADLINE, Headline, ModelPair, Versus
from syntagm.report.predictions.scores import ScoreRow
from syntagm.runs import Run


def describe(headline: Headline, score: Estimate | None) -> Markup:
    parts = [_mean(score), _against_chance(headline), *(_compare_with(versus, headline) for versus in headline.versus)]
    return Markup("<b>%s</b>: %s.") % (isolate(headline.name), join(filter(None, parts), "; "))


def _mean(score: Estimate | None) -> Markup:
    if score is None or score.value != score.value:
        return Markup("")
    return Markup("mean accuracy <b>%s</b>") % number(score.value)


def _against_chance(headline: Headline) -> Markup:
    if not headline.suites:
        return Markup("no suite with a known chance level")
    below = Markup(", below on <b>%s</b>") % headline.below if headline.below else ""
    return Markup("above chance on <b>%s</b> of %s%s") % (headline.above, counted(headline.suites, "suite"), below)


def _compare_with(versus: Versus, headline: Headline) -> Markup:
    other, difference = isolate(versus.other), versus.difference
    if difference == difference:
        side = "below" if difference < 0 else "above" if difference else "from"
        lead = Markup("<b>%s</b>%s %s %s on average, ") % (number(abs(difference)), _size(versus), side, other)
    else:
        lead = Markup("compared with %s, ") % other
    of = f" of {versus.suites}" if versus.suites != headline.suites + headline.untested else ""
    return lead + Markup("better on <b>%s</b>, worse on <b>%s</b>%s") % (versus.better, versus.worse, of)


def _size(versus: Versus) -> Markup:
    """Return the interval of the size of a difference; "" if there is none."""
    if versus.low != versus.low:
        return Markup("")
    ends = (versus.low, versus.high) if versus.difference >= 0 else (-versus.high, -versus.low)
    return Markup(' <span class="interval">[%s, %s]</span>') % tuple(map(number, ends))


def explain_headlines(headlines: Sequence[Headline], pairs: bool) -> Markup:
    return join(filter(None, _explain(headlines, pairs)), " ")


def _explain(headlines: Sequence[Headline], pairs: bool) -> Iterator[Markup]:
    first = (
        ", each model against the first; the other pairs are there" if pairs and len(headlines) > IN_HEADLINE else ""
    )
    test = ', better and worse by the test of the section <a href="#compared">Models compared</a>' if pairs else ""
    yield Markup(
        "Only significant differences are counted, by the first prediction of each suite: p &le; 0.05 after Holm&rsquo;s "
        "adjustment over the suites of a model or a pair of models; above and below chance by the exact binomial "
        f"test{test}{first}."
    )
    yield Markup("On the other suites the items are too few to tell, or there is no difference.")
    possible = [headline.possible for headline in headlines]
    if not all(possible):
        some = ", under some of the models" if any(possible) else ""
        yield (
            Markup("<b>No suite can be significantly above or below chance</b> with so few items and so many suites%s.")
            % some
        )
    if not all(versus.possible for headline in headlines for versus in headline.versus):
        yield Markup(
            "<b>No suite can show a significant difference between models</b> with so few items and so many suites: judge "
            "by the mean difference and its interval."
        )
    untested = {headline.name: counted(headline.untested, "suite") for headline in headlines if headline.untested}
    if untested:
        alike = len(untested) == len(headlines) and len(set(untested.values())) == 1
        of_models = (Markup("%s under %s") % (count, isolate(name)) for name, count in untested.items())
        yield Markup(
            "Not tested against chance: %s whose chance level is unknown, 0 or 1, or that have no defined item."
        ) % (next(iter(untested.values())) if alike else join(of_models, ", "))


def explain_names(meanings: Mapping[str, str]) -> Markup:
    """Say what the names of predictions mean; "" if no meaning is known."""
    named = join((Markup("<b>%s</b>: %s") % pair for pair in meanings.items()), "; ")
    return Markup(" %s.") % named if named else Markup("")


def list_chances(lines: Sequence[ScoreRow]) -> Markup:
    return join(
        Markup("%s %s")
        % (isolate(line.label, False), number(value) if (value := line.chance.value) == value else "unknown")
        for line in lines
    )


def explain_scores(lines: Sequence[ScoreRow]) -> list[Markup]:
    """Say what limits the scores of a table."""
    different = Markup(
        "Where models were asked different suites, the number of suites stands under each score: these scores are means over "
        "different suites, and can differ for that reason alone."
    )
    limits = [isolate(sentence, False) for sentence in scores.limits_of_rows(lines)]
    return limits if all(line.alike for line in lines) else [different, *limits]


def describe_pair(pair: ModelPair) -> Markup:
    difference, (only_a, only_b) = pair.overall.difference, pair.discordant
    undefined = f", {difference.undefined:,} undefined under one model and skipped" if difference.undefined else ""
    return Markup(
        "B &minus; A, mean over suites: <b>%s</b>, p=%s (%s), n=%s%s. Right only under A: %s items; only under B: %s. Bold: "
        "p &le; 0.05."
    ) % (
        *(
            html.format_difference(difference),
            f"{pair.overall.p:.3g}",
            difference.method,
            f"{difference.n:,}",
            undefined,
        ),
        *(f"{only_a:,}", f"{only_b:,}"),
    )


def summarize_pair(pair: ModelPair) -> Markup:
    significant = sum(pair.better)
    return Markup("<b>A</b> %s, <b>B</b> %s: %s of %s show%s a significant difference") % (
        *(isolate(pair.a.name), isolate(pair.b.name)),
        *(significant, counted(len(pair.suites), "suite"), "s" if significant == 1 else ""),
    )


def list_missing(tag_name: str, without: int, unasked: int, names: int) -> list[str]:
    """Say how many suites are in no row of a table by a tag."""
    sentences = []
    if without:
        has, is_ = ("has", "is") if without == 1 else ("have", "are")
        sentences.append(f"{without} of {names} suites {has} no {tag_name} and {is_} in no row.")
    if unasked:
        has, is_ = ("has", "is") if unasked == 1 else ("have", "are")
        sentences.append(
            f"{unasked} of {names} suites {has} a {tag_name} but {is_} in no row: the first prediction was not computed, "
            "or there is none."
        )
    return sentences


def explain_figure(suite: SuiteOnPage) -> Markup:
    subject = suite.subject
    if suite.kind != "regions":
        return Markup(
            "Items by the margin of the prediction %s: right of 0 it holds, and the further from 0, the clearer."
        ) % isolate(subject.first, False)
    name = Markup(", %s,") % isolate(subject.first, False) if len(subject.record.predictions) > 1 else ""
    compares = Markup("; grey: what the first prediction%s compares") % name if subject.first and suite.compared else ""
    return join(
        [
            Markup("Surprisal by region%s.") % compares,
            " Hollow: a region that is empty in this condition, 0 bits." if suite.empty else "",
            Markup(
                " Right: the compared regions, each on a scale of its own, with intervals within items (Cousineau&ndash;Morey). "
            )
            if suite.compared
            else "",
            "Below: the effects of the first prediction, mean differences within items; their intervals, not those of the "
            "means, tell whether conditions differ."
            if suite.effects
            else "",
        ],
        "",
    )


def count_sides(model: str, effects: int, above: int, below: int) -> Markup:
    values = isolate(model), above, counted(effects, "effect"), below
    return Markup("%s: interval right of 0 for %s of %s, left of 0 for %s") % values


def explain_chance(suite: SuiteOnPage) -> list[Markup]:
    measures = suite.subject.measures
    sentences = []
    for measure in measures:
        level = suite.subject.chance(measure)
        of = Markup(" of %s") % isolate(measure, False) if len(measures) > 1 else ""
        value = f"{level} ({level.method})" if level.value == level.value else level.method
        sentences.append(Markup("Chance%s: %s") % (of, value))
    return sentences


def cite_suite(suite: SuiteOnPage) -> list[str]:
    subject = suite.subject
    return [
        numbers.citation(column, subject.name, measure)
        for column in subject.columns
        for measure in subject.measures
        if (subject.name, measure) in column.accuracies
    ]


_TAGS = ("circuit", "phenomenon", "field")


@dataclass(frozen=True, slots=True)
class PredictionOnPage:
    """A prediction, with what its name and its formula mean in words, and the formula."""

    name: str
    explanation: Markup
    formula: str


@dataclass(frozen=True, slots=True)
class ItemsOnPage:
    """The items of a suite that a version of the page shows token by token."""

    suite: SuiteOnPage
    kept: int  # how many they are
    total: int  # the number of items in the suite
    summary: str
    remark: str  # how they were chosen; "" if they are all

    @property
    def data(self) -> Markup:
        """The JSON from which the script draws them."""
        return self.suite.data_of(self.kept)


@dataclass(frozen=True, slots=True)
class Article:
    suite: SuiteOnPage
    facts: Markup
    # `example`, `table`, `effects`, `numbers`: tables: of its first item, its accuracies, its effects and the numbers
    # of its figure; "" if there is nothing to show
    example: HtmlTable | str
    predictions: tuple[PredictionOnPage, ...]
    table: HtmlTable | str
    effects: HtmlTable | str
    limits: tuple[str, ...]  # what limits the effects
    numbers: HtmlTable | str
    # `signatures`, `chances`: the line that cites each number, and what is known of each chance level
    signatures: tuple[str, ...]
    chances: tuple[Markup, ...]
    links: Markup  # links that save its tables as CSV

    @property
    def subject(self) -> Subject[Run]:
        return self.suite.subject

    @property
    def stem(self) -> str:
        return self.suite.stem

    def choose_items(self, limit: int) -> ItemsOnPage:
        total = self.suite.shown.total
        kept = min(len(self.suite.shown.ranks), limit)
        if kept == total:
            summary = f"{'The item' if kept == 1 else f'All {kept} items'}, token by token"
            return ItemsOnPage(self.suite, kept, total, summary, "")
        several = "items that the models judge differently, " if len(self.subject.columns) > 1 else ""
        remark = (
            f"Chosen were {several}undefined items, ties, extreme margins, and a random sample (seed {items.SEED}). The "
            f"other {total - kept:,} are in the run directory;"
        )
        return ItemsOnPage(self.suite, kept, total, f"{kept} of {total:,} items, token by token", remark)


def write_articles(chapter: Evidence) -> list[Article]:
    return [_article(suite, chapter.meanings) for suite in chapter.suites]


def _article(suite: SuiteOnPage, meanings: Mapping[str, str]) -> Article:
    record = suite.subject.record
    return Article(
        suite,
        state_facts(record),
        tables.tabulate_example(suite.subject.title, suite.item, suite.example, writing_of(record.tags))
        if suite.example
        else "",
        tuple(explain_predictions(record, meanings)),
        tables.tabulate_predictions(suite) if record.predictions else "",
        tables.tabulate_effects(suite) if suite.effects else "",
        suite.limits if suite.effects else (),
        tables.tabulate_regions(suite) if suite.kind == "regions" and len(suite.figure.table) else "",
        tuple(cite_suite(suite)),
        tuple(explain_chance(suite)),
        _link(suite),
    )


def state_facts(record: SuiteRecord) -> Markup:
    """Say how large a suite is, how the bits of its regions are computed, and to what it belongs."""
    size = f"{counted(record.items, 'item')}, {counted(len(record.conditions), 'condition')}"
    rule = Markup(", a region&rsquo;s bits are the <b>%s</b> over its tokens") % record.aggregate
    return Markup("%s%s%s") % (size, rule if record.aggregate != "sum" else "", list_tags(record.tags, _TAGS))


def explain_predictions(record: SuiteRecord, meanings: Mapping[str, str]) -> Iterator[PredictionOnPage]:
    for name, formula in record.predictions.items():
        meaning = f" ({meanings[name]})" if name in meanings else ""
        in_words = prediction_in_words(record, name)
        yield PredictionOnPage(
            name, Markup("%s%s") % (meaning, Markup(": %s.") % in_words if in_words else ""), formula
        )


def _link(suite: SuiteOnPage) -> Markup:
    figure = Markup("The figure: %s. ") % suite.figure_data if len(suite.figure.table) else Markup("")
    if suite.items_data:
        return figure + Markup("The verdicts: %s.") % suite.items_data
    return figure + Markup(
        "The verdicts of all items: <code>syntagm export</code>." if suite.subject.record.predictions else ""
    )
