from syntagm.runs import (
    carrying_out as carrying_out,
    engine as engine,
    evaluation as evaluation,
    executors as executors,
    judging as judging,
    ledger as ledger,
)
from syntagm.runs.cache import default_path as default_path, is_of_surroundings as is_of_surroundings
from syntagm.runs.carrying_out import carry_out as carry_out, check as check, refuse_unable as refuse_unable
from syntagm.runs.encoding import RESULT_COLUMNS as RESULT_COLUMNS
from syntagm.runs.engine import well_formed as well_formed
from syntagm.runs.evaluate import fill as fill, run_suites as run_suites, task_of as task_of
from syntagm.runs.evaluation import Evaluation as Evaluation, Job as Job
from syntagm.runs.executors import find as find
from syntagm.runs.executors.local import Local as Local
from syntagm.runs.executors.ray import Ray as Ray
from syntagm.runs.files import LEDGER as LEDGER, has_run as has_run, is_done as is_done, read_record as read_record
from syntagm.runs.imported.pairs import import_results as import_results
from syntagm.runs.judging import (
    TIES as TIES,
    by_suite as by_suite,
    convention_of as convention_of,
    describe as describe,
    different as different,
    explain as explain,
    settings as settings,
    signature_over as signature_over,
    tie_value as tie_value,
    ties_of as ties_of,
    treatment as treatment,
)
from syntagm.runs.pieces import OPEN as OPEN, Arrival as Arrival, Event as Event
from syntagm.runs.rejudged import (
    Rejudged as Rejudged,
    convention_of_suite as convention_of_suite,
    items as items,
    pairs as pairs,
    rejudged_where_possible as rejudged_where_possible,
    unit as unit,
    units as units,
    whole as whole,
)
from syntagm.runs.several import (
    chosen_suite as chosen_suite,
    comparable_pairs as comparable_pairs,
    different_content as different_content,
    group_of as group_of,
    having as having,
    items_by_sentences as items_by_sentences,
    listed as listed,
    named as named,
    not_asked as not_asked,
    numbers_of_suites as numbers_of_suites,
    same_items as same_items,
    tags as tags,
    titles as titles,
    unequal as unequal,
)
from syntagm.runs.shared_folder import SharedFolder as SharedFolder
from syntagm.runs.store import (
    DISTRIBUTION_COLUMNS as DISTRIBUTION_COLUMNS,
    REGION_COLUMNS as REGION_COLUMNS,
    TOKEN_COLUMNS as TOKEN_COLUMNS,
    Run as Run,
    Runs as Runs,
    judged as judged,
    open_run as open_run,
    reopened as reopened,
    run_folders as run_folders,
    run_of as run_of,
    runs_of as runs_of,
)
from syntagm.runs.training_study import PERPLEXITY as PERPLEXITY, trained_on as trained_on
from syntagm.runs.worker import Session as Session
