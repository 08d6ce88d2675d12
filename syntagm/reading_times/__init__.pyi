from syntagm.reading_times import (
    alarms as alarms,
    analyses as analyses,
    effects as effects,
    exclusions as exclusions,
    fitting as fitting,
    joining as joining,
    observations as observations,
    predictors as predictors,
    record as record,
    roles as roles,
    slopes as slopes,
    tables as tables,
    views as views,
)
from syntagm.reading_times.alarms import Alarm as Alarm
from syntagm.reading_times.analyses import (
    EFFECTS as EFFECTS,
    Analysis as Analysis,
    cited as cited,
    open_analyses as open_analyses,
)
from syntagm.reading_times.effects import Contrast as Contrast
from syntagm.reading_times.fitting import Request as Request
from syntagm.reading_times.joining import Joined as Joined, Rules as Rules, listed as listed
from syntagm.reading_times.observations import Added as Added
from syntagm.reading_times.record import is_analysis as is_analysis
from syntagm.reading_times.slopes import Slopes as Slopes
from syntagm.reading_times.tables import Readings as Readings, Source as Source
from syntagm.reading_times.views import gain as gain, lag as lag, ms as ms, shape as shape
