from syntagm.core import (
    bibliography as bibliography,
    errors as errors,
    extras as extras,
    permissions as permissions,
    registry as registry,
    renames as renames,
    settings as settings,
)
from syntagm.core.arguments import (
    OptionValue as OptionValue,
    overriding as overriding,
    public as public,
    spelled as spelled,
)
from syntagm.core.display import (
    counted as counted,
    name_of as name_of,
    natural as natural,
    shown as shown,
    shown_lines as shown_lines,
    span as span,
    visible as visible,
)
from syntagm.core.errors import (
    AlignmentError as AlignmentError,
    FormulaError as FormulaError,
    InputError as InputError,
    Interrupted as Interrupted,
    ModelError as ModelError,
    RunError as RunError,
    SyntagmError as SyntagmError,
    UsageError as UsageError,
    did_you_mean as did_you_mean,
    is_mistake as is_mistake,
    lacks_memory as lacks_memory,
)
from syntagm.core.io import (
    atomic as atomic,
    csv as csv,
    hashing as hashing,
    hub as hub,
    integrity as integrity,
    json as json,
    lines as lines,
    lock as lock,
    pickle as pickle,
    record as record,
    regular as regular,
    safetensors_file as safetensors_file,
    seal as seal,
    shape as shape,
    toml as toml,
    torch_file as torch_file,
    utf8 as utf8,
)
from syntagm.core.io.integrity import FOLDERS as FOLDERS, Inspected as Inspected, of_folder as of_folder
from syntagm.core.io.json import finite as finite
from syntagm.core.io.lock import held as held
from syntagm.core.io.record import RENEWED as RENEWED, Form as Form
from syntagm.core.io.shape import Shape as Shape, check as check
from syntagm.core.io.toml import MAX_CHARACTERS as MAX_CHARACTERS, known as known, need as need
from syntagm.core.permissions import (
    HELP as HELP,
    NAMES as NAMES,
    NONE as NONE,
    Permissions as Permissions,
    flag as flag,
    how_to_give as how_to_give,
    of_flags as of_flags,
    refuse as refuse,
)
from syntagm.core.progress import Progress as Progress
from syntagm.core.settings import (
    LARGEST as LARGEST,
    Choice as Choice,
    Number as Number,
    Reader as Reader,
    Setting as Setting,
    Several as Several,
    Text as Text,
    Truth as Truth,
    Value as Value,
    Values as Values,
    Whole as Whole,
    asked as asked,
    of_annotation as of_annotation,
    whole as whole,
)
