from syntagm.views import (
    by_name as by_name,
    ceiling as ceiling,
    circuits as circuits,
    claims as claims,
    classes as classes,
    comparison as comparison,
    correlation as correlation,
    coverage as coverage,
    effects as effects,
    estimates as estimates,
    explanation as explanation,
    frequency_bands as frequency_bands,
    gaps as gaps,
    learning_curve as learning_curve,
    lexical as lexical,
    margins as margins,
    methods as methods,
    modifiers as modifiers,
    normalised as normalised,
    nucleus as nucleus,
    people as people,
    people_effects as people_effects,
    perplexity as perplexity,
    phenomena as phenomena,
    power as power,
    regions as regions,
    scores as scores,
    shared_words as shared_words,
    surface as surface,
    trajectory as trajectory,
    words as words,
)
from syntagm.views.by_name import figure as figure
from syntagm.views.checking import check_suites as check_suites, read_file as read_file, unreadable as unreadable
from syntagm.views.checkpoints import (
    Curve as Curve,
    Places as Places,
    Scale as Scale,
    places as places,
    score_curves as score_curves,
)
from syntagm.views.classes import (
    INSTANCE as INSTANCE,
    ITEM as ITEM,
    UNITS as UNITS,
    by_circuit as by_circuit,
    by_mean as by_mean,
    by_vote as by_vote,
    suite_means as suite_means,
)
from syntagm.views.comparison import (
    Pairing as Pairing,
    compare as compare,
    intervals as intervals,
    labelled as labelled,
    letters as letters,
)
from syntagm.views.drawing import curves as curves, dots as dots, vega as vega
from syntagm.views.drawing.chart import Figure as Figure, Spec as Spec, finish as finish
from syntagm.views.drawing.curves import Panel as Panel
from syntagm.views.drawing.save import endings as endings
from syntagm.views.drawing.table import Cell as Cell, Table as Table, in_latex as in_latex, narrowed as narrowed
from syntagm.views.drawing.text import (
    limits as limits,
    lines as lines,
    or_none as or_none,
    shown_duration as shown_duration,
)
from syntagm.views.effects import (
    Differences as Differences,
    Effect as Effect,
    comparisons as comparisons,
    contrast as contrast,
    first_of_several as first_of_several,
    within as within,
)
from syntagm.views.estimates import (
    accuracies as accuracies,
    chance_of as chance_of,
    chance_of_suite as chance_of_suite,
    mean_name as mean_name,
    ties_of_pairs as ties_of_pairs,
)
from syntagm.views.export import Csv as Csv, Export as Export, Outcome as Outcome
from syntagm.views.export.scores import SCORE_COLUMNS as SCORE_COLUMNS, score_row as score_row
from syntagm.views.gaps import over_gaps as over_gaps
from syntagm.views.in_training.callback import EvaluationCallback as EvaluationCallback
from syntagm.views.in_training.trajectory import Trajectory as Trajectory
from syntagm.views.learning_curve import LearningCurve as LearningCurve, line as line
from syntagm.views.modifiers import (
    MODIFIED as MODIFIED,
    PLAIN as PLAIN,
    modifier_stability as modifier_stability,
    pairs as pairs,
)
from syntagm.views.options import Measure as Measure, call as call, called as called, described as described
from syntagm.views.people import (
    Agreement as Agreement,
    agreement_over as agreement_over,
    asks as asks,
    read_judgements as read_judgements,
)
from syntagm.views.quantity import tags_of as tags_of
from syntagm.views.shared_words import SharedWords as SharedWords
from syntagm.views.surface import PROPERTIES as PROPERTIES
