from syntagm.stats import (
    acceptability as acceptability,
    bootstrap as bootstrap,
    cluster_intervals as cluster_intervals,
    correlation as correlation,
    in_words as in_words,
    interval as interval,
    judgements as judgements,
    logit as logit,
    matching as matching,
    model_classes as model_classes,
    paired as paired,
    paired_intervals as paired_intervals,
    planning as planning,
    precision as precision,
    score as score,
    suite_intervals as suite_intervals,
    trajectory as trajectory,
    variance_shares as variance_shares,
)
from syntagm.stats.acceptability import Auc as Auc, auc_of_pairs as auc_of_pairs
from syntagm.stats.adjust import holm as holm
from syntagm.stats.bootstrap import FEW as FEW, Resampling as Resampling, Suites as Suites, using as using
from syntagm.stats.cluster_intervals import (
    Alike as Alike,
    Clustered as Clustered,
    alike as alike,
    clustered as clustered,
    evident as evident,
    spread_of_clusters as spread_of_clusters,
)
from syntagm.stats.correlation import (
    METHODS as METHODS,
    Association as Association,
    association as association,
    correlations as correlations,
)
from syntagm.stats.interval import LEVEL as LEVEL, Interval as Interval, Spread as Spread, critical as critical
from syntagm.stats.judgements import Judgements as Judgements, Numbers as Numbers, Reliability as Reliability
from syntagm.stats.mixed import (
    crossed as crossed,
    few_groups as few_groups,
    formula as formula,
    linear as linear,
    logistic as logistic,
)
from syntagm.stats.mixed.design import (
    Columns as Columns,
    factor_levels as factor_levels,
    group_index as group_index,
    model_columns as model_columns,
)
from syntagm.stats.mixed.few_groups import SIMULATIONS as SIMULATIONS, Planned as Planned
from syntagm.stats.mixed.fit import (
    By as By,
    Covariance as Covariance,
    Fit as Fit,
    Group as Group,
    coefficient_covariance as coefficient_covariance,
)
from syntagm.stats.mixed.formula import Bar as Bar, Model as Model, Sum as Sum, Term as Term, Variable as Variable
from syntagm.stats.mixed.linear import FEW_GROUPS as FEW_GROUPS, LikelihoodRatio as LikelihoodRatio
from syntagm.stats.paired import (
    PAIR_COLUMNS as PAIR_COLUMNS,
    Comparison as Comparison,
    Verdicts as Verdicts,
    difference as difference,
)
from syntagm.stats.paired_intervals import mcnemar as mcnemar
from syntagm.stats.planning import (
    STUDIES as STUDIES,
    People as People,
    Pilot as Pilot,
    Power as Power,
    TwoClasses as TwoClasses,
    TwoModels as TwoModels,
    people_for as people_for,
    power as power,
)
from syntagm.stats.precision import (
    PILOT as PILOT,
    items_after as items_after,
    items_for as items_for,
    reach_of as reach_of,
)
from syntagm.stats.score import Key as Key, Sample as Sample, mean as mean, verdicts as verdicts
from syntagm.stats.trajectory import Between as Between
from syntagm.stats.verdict import FALSE as FALSE, HOLDS as HOLDS, OPEN as OPEN, Range as Range
