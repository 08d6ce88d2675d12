from syntagm.report import methods as methods, references as references, shell as shell
from syntagm.report.collection_page import describe_collection as describe_collection
from syntagm.report.links import csv_link as csv_link
from syntagm.report.methods import methods_text as methods_text
from syntagm.report.page import chapter_of as chapter_of, place_figures as place_figures, report as report, save as save
from syntagm.report.predictions.chapter import Predictions as Predictions
from syntagm.report.predictions.evidence import Evidence as Evidence
from syntagm.report.predictions.items import formula_in_words as formula_in_words
from syntagm.report.section import Drawing as Drawing, Section as Section
from syntagm.report.serve import limits as limits
from syntagm.report.serve.application import (
    Application as Application,
    build_application as build_application,
    run_server as run_server,
)
from syntagm.report.serve.browse import Shelf as Shelf, routes as routes, routes_under as routes_under
from syntagm.report.serve.gate import Gate as Gate, Password as Password, read_password as read_password
from syntagm.report.serve.page_cache import PageCache as PageCache, key_of as key_of
from syntagm.report.serve.routes import (
    Asked as Asked,
    Missing as Missing,
    Route as Route,
    content as content,
    download as download,
    html_page as html_page,
    moved as moved,
)
from syntagm.report.site.addresses import (
    Filed as Filed,
    Place as Place,
    Query as Query,
    Served as Served,
    default_table as default_table,
    keys as keys,
    path_of as path_of,
)
from syntagm.report.site.folder import write_pages as write_pages
from syntagm.report.site.item import (
    CONDITIONS as CONDITIONS,
    DIFFERENCE as DIFFERENCE,
    TOKENS as TOKENS,
    VERDICTS as VERDICTS,
    ItemPage as ItemPage,
)
from syntagm.report.site.items import suite_of as suite_of
from syntagm.report.site.site import NoPage as NoPage, Site as Site
from syntagm.report.sweep import Sweep as Sweep, group_models as group_models
