from syntagm.experiment import (
    alarms as alarms,
    answers as answers,
    deployed as deployed,
    designs as designs,
    hosted as hosted,
    jspsych as jspsych,
    make as make,
    pcibex as pcibex,
    people as people,
    plan as plan,
    presets as presets,
    read as read,
    simulate as simulate,
    texts as texts,
    walk as walk,
)
from syntagm.experiment.answers import Answer as Answer, Audit as Audit
from syntagm.experiment.database import KEY as KEY, NAME as NAME
from syntagm.experiment.plan import Exclusions as Exclusions, Plan as Plan, Trial as Trial
from syntagm.experiment.store import State as State, Study as Study
from syntagm.experiment.walk import browser as browser
