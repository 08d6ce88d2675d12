from syntagm.studio.jobs import Jobs as Jobs, Limits as Limits
from syntagm.studio.store import Store as Store
from syntagm.studio.studio import Studio as Studio
