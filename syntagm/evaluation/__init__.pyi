from syntagm.evaluation import (
    baselines as baselines,
    chance_level as chance_level,
    people as people,
    result as result,
    texts as texts,
)
from syntagm.evaluation.alignment import Reading as Reading, Rule as Rule, align as align
from syntagm.evaluation.baselines import Baseline as Baseline, Frequencies as Frequencies, frequencies as frequencies
from syntagm.evaluation.chance_level import (
    Chance as Chance,
    against_chance as against_chance,
    chance as chance,
    unknown as unknown,
)
from syntagm.evaluation.context import Limit as Limit, limited_tables as limited_tables
from syntagm.evaluation.conventions import convention as convention, linking as linking
from syntagm.evaluation.conventions.convention import (
    DEFAULT as DEFAULT,
    PUBLISHED as PUBLISHED,
    TREATMENTS as TREATMENTS,
    Convention as Convention,
    Judge as Judge,
    canonical as canonical,
    kind_of as kind_of,
    recorded as recorded,
    value as value,
)
from syntagm.evaluation.conventions.linking import (
    COSTS as COSTS,
    LINKINGS as LINKINGS,
    Cost as Cost,
    Score as Score,
    margin as margin,
)
from syntagm.evaluation.conventions.scored import (
    Case as Case,
    Scored as Scored,
    Tokens as Tokens,
    Unigrams as Unigrams,
    counted_unigrams as counted_unigrams,
    differing as differing,
    load_unigrams as load_unigrams,
    scored as scored,
)
from syntagm.evaluation.gaps.tables import WEIGHTS as WEIGHTS, schemas as schemas
from syntagm.evaluation.gaps.task import Gaps as Gaps
from syntagm.evaluation.gaps.weights import (
    PUBLISHED_BOTTOM as PUBLISHED_BOTTOM,
    PUBLISHED_TOP as PUBLISHED_TOP,
    Candidates as Candidates,
    Cut as Cut,
    Eligible as Eligible,
    candidates as candidates,
    canonical_cuts as canonical_cuts,
    parse_cut as parse_cut,
    shares as shares,
)
from syntagm.evaluation.items import (
    SENTENCES as SENTENCES,
    TABLES as TABLES,
    regions as regions,
    suite_hash as suite_hash,
    whole_sentences as whole_sentences,
)
from syntagm.evaluation.measure import Judgement as Judgement, Measure as Measure
from syntagm.evaluation.measured import Measures as Measures
from syntagm.evaluation.measures import parse as parse
from syntagm.evaluation.people import (
    ANSWERS as ANSWERS,
    TABLE as TABLE,
    People as People,
    item_values as item_values,
    timed_words as timed_words,
)
from syntagm.evaluation.predictions import Predictions as Predictions, warnings_of_convention as warnings_of_convention
from syntagm.evaluation.result import (
    FEW_NUMBERS as FEW_NUMBERS,
    IN_BRIEF as IN_BRIEF,
    Estimate as Estimate,
    Group as Group,
    Kind as Kind,
    MeasureName as MeasureName,
    Result as Result,
    interval as interval,
    p_value as p_value,
    signless as signless,
    unseen as unseen,
    unseen_of as unseen_of,
)
from syntagm.evaluation.sums import FULL as FULL, REPORTED as REPORTED, Sum as Sum, Sums as Sums
from syntagm.evaluation.task import (
    RESULTS as RESULTS,
    SUITE_SHAPE as SUITE_SHAPE,
    Judged as Judged,
    Options as Options,
    Plan as Plan,
    Schema as Schema,
    SuiteRecord as SuiteRecord,
    Task as Task,
    Unit as Unit,
    group_of as group_of,
    suite_record as suite_record,
)
from syntagm.evaluation.text_perplexity import (
    Perplexity as Perplexity,
    division as division,
    perplexities as perplexities,
    perplexity as perplexity,
)
from syntagm.evaluation.texts import (
    Count as Count,
    Spans as Spans,
    Text as Text,
    columns as columns,
    counted as counted,
    divide as divide,
    empty as empty,
    portions as portions,
    refuse_file_name as refuse_file_name,
    refuse_options as refuse_options,
    score_text as score_text,
    text_tables as text_tables,
    word_spans as word_spans,
)
