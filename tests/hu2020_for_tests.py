"""The 34 suites of Hu et al. 2020 as a table, and the bundled ones as plain texts.

A row: name, circuit, conditions, number of regions, and the formula of the released suite, with regions as numbers.
"""

from dataclasses import dataclass
from functools import cache

import syntagm
from syntagm.suites import Binary, Item, Node, Reference, Sentence, Suite, parse

NUMBER = "match_sing mismatch_sing match_plural mismatch_plural"
FILLER = "what_nogap that_nogap what_gap that_gap"
EMBED = "what_gap that_gap what_no-gap that_no-gap"
HIERARCHY = "what_nogap that_nogap what_subjgap that_subjgap what_matrixgap that_matrixgap"
NPI = "neg_pos neg_neg pos_pos pos_neg"
MVRR = "reduced_ambig unreduced_ambig reduced_unambig unreduced_unambig"
NPZ = "ambig_nocomma unambig_nocomma ambig_comma unambig_comma"
NPZ_OBJ = "no-obj_no-comma obj_no-comma no-obj_comma obj_comma"
CLEFT = "np_mismatch np_match vp_match vp_mismatch"
SUB = "sub_no-matrix no-sub_no-matrix sub_matrix no-sub_matrix"

AGREES = "(V;%match_sing%) < (V;%mismatch_sing%) & (V;%match_plural%) < (V;%mismatch_plural%)"
# Of the reflexives the paper says something else: the same reflexive after two subjects.
BINDS = "(V;%match_sing%) < (V;%mismatch_plural%) & (V;%match_plural%) < (V;%mismatch_sing%)"
GAP = "(V;%what_nogap%) > (V;%that_nogap%) & (W;%what_gap%) < (W;%that_gap%)"
EMBEDDED = "(V;%what_no-gap%) > (V;%that_no-gap%) & (W;%what_gap%) < (W;%that_gap%)"
HIGHER = "(V;%what_nogap%) > (V;%that_nogap%) & (V;%what_subjgap%) < (V;%that_subjgap%)"
EQUAL = "(W;%what_nogap%) = (W;%that_nogap%) & (V;%what_subjgap%) = (V;%that_subjgap%)"
LICENSED = "(V;%neg_pos%) < (V;%pos_pos%) & (V;%neg_neg%) < (V;%pos_neg%) & (V;%neg_pos%) < (V;%pos_neg%)"
REDUCED = (
    "(V;%reduced_ambig%) > (V;%unreduced_ambig%) & (V;%reduced_ambig%) > (V;%reduced_unambig%) & "
    "((V;%reduced_ambig%) - (V;%unreduced_ambig%)) > ((V;%reduced_unambig%) - (V;%unreduced_unambig%))"
)
COMMA = (
    "(V;%ambig_nocomma%) > (V;%ambig_comma%) & (V;%ambig_nocomma%) > (V;%unambig_nocomma%) & "
    "((V;%ambig_nocomma%) - (V;%ambig_comma%)) > ((V;%unambig_nocomma%) - (V;%unambig_comma%))"
)
OBJECT = (
    "(V;%no-obj_no-comma%) > (V;%no-obj_comma%) & (V;%no-obj_no-comma%) > (V;%obj_no-comma%) & "
    "((V;%no-obj_no-comma%) - (V;%no-obj_comma%)) > ((V;%obj_no-comma%) - (V;%obj_comma%))"
)
CLEFTS = (
    "((W;%np_mismatch%) - (W;%np_match%)) + "
    "(((V;%vp_mismatch%) + (W;%vp_mismatch%)) - ((V;%vp_match%) + (W;%vp_match%))) > 0"
)
ORDER = "((V;%plaus%) + (W;%plaus%)) < ((V;%implaus%) + (W;%implaus%))"
CLAUSES = "(V;%sub_no-matrix%) > (V;%no-sub_no-matrix%) & (V;%sub_matrix%) < (V;%no-sub_matrix%)"
NOUN = "(V;%nn_ambig%) > (V;%nn_unambig%)"
VERB = "(V;%nv_ambig%) > (V;%nv_unambig%)"


@dataclass(frozen=True)
class Design:
    """What is fixed of a suite. `critical` are the numbers of the regions V and W of the formulas."""

    circuit: str
    conditions: list[str]
    regions: int
    critical: tuple[int, ...]
    formulas: dict[str, str]


def design(circuit: str, conditions: str, regions: int, critical: str, **formulas: str) -> Design:
    """A row, with V and W of its formulas replaced by the numbers of the critical regions."""
    numbers = critical.split()
    for letter, number in zip("VW", numbers, strict=False):
        formulas = {name: text.replace(f"({letter};", f"({number};") for name, text in formulas.items()}
    return Design(circuit, conditions.split(), regions, tuple(map(int, numbers)), formulas)


DESIGNS = {
    "center_embed": design("Center Embedding", "plaus implaus", 7, "6 7", paper=ORDER),
    "center_embed_mod": design("Center Embedding", "plaus implaus", 8, "7 8", paper=ORDER),
    "cleft": design("Long-Distance Dependencies", CLEFT, 6, "5 6", paper=CLEFTS),
    "cleft_modifier": design("Long-Distance Dependencies", CLEFT, 7, "6 7", paper=CLEFTS),
    "fgd-embed3": design("Long-Distance Dependencies", EMBED, 7, "6 7", paper=EMBEDDED),
    "fgd-embed4": design("Long-Distance Dependencies", EMBED, 7, "6 7", paper=EMBEDDED),
    "fgd_hierarchy": design("Long-Distance Dependencies", HIERARCHY, 9, "6 9", released=HIGHER, released_2=EQUAL),
    "fgd_object": design("Long-Distance Dependencies", FILLER, 8, "5 6", paper=GAP),
    "fgd_pp": design("Long-Distance Dependencies", FILLER, 8, "7 8", paper=GAP),
    "fgd_subject": design("Long-Distance Dependencies", FILLER, 8, "3 4", paper=GAP),
    "mvrr": design("Garden-Path Effects", MVRR, 6, "5", paper=REDUCED),
    "mvrr_mod": design("Garden-Path Effects", MVRR, 7, "6", paper=REDUCED),
    "nn-nv-rpl": design("", "nn_ambig nn_unambig nv_ambig nv_unambig", 5, "5", released=NOUN, released_2=VERB),
    "npi_orc_any": design("Licensing", NPI, 9, "8", paper=LICENSED),
    "npi_orc_ever": design("Licensing", NPI, 9, "8", paper=LICENSED),
    "npi_src_any": design("Licensing", NPI, 9, "8", paper=LICENSED),
    "npi_src_ever": design("Licensing", NPI, 9, "8", paper=LICENSED),
    "npz_ambig": design("Garden-Path Effects", NPZ, 6, "5", paper=COMMA),
    "npz_ambig_mod": design("Garden-Path Effects", NPZ, 7, "6", paper=COMMA),
    "npz_obj": design("Garden-Path Effects", NPZ_OBJ, 6, "5", paper=OBJECT),
    "npz_obj_mod": design("Garden-Path Effects", NPZ_OBJ, 7, "6", paper=OBJECT),
    "number_orc": design("Agreement", NUMBER, 8, "7", paper=AGREES),
    "number_prep": design("Agreement", NUMBER, 7, "6", paper=AGREES),
    "number_src": design("Agreement", NUMBER, 8, "7", paper=AGREES),
    "reflexive_orc_fem": design("Licensing", NUMBER, 8, "8", paper=BINDS, released=AGREES),
    "reflexive_orc_masc": design("Licensing", NUMBER, 8, "8", paper=BINDS, released=AGREES),
    "reflexive_prep_fem": design("Licensing", NUMBER, 7, "7", paper=BINDS, released=AGREES),
    "reflexive_prep_masc": design("Licensing", NUMBER, 7, "7", paper=BINDS, released=AGREES),
    "reflexive_src_fem": design("Licensing", NUMBER, 8, "8", paper=BINDS, released=AGREES),
    "reflexive_src_masc": design("Licensing", NUMBER, 8, "8", paper=BINDS, released=AGREES),
    "subordination": design("Gross Syntactic State", SUB, 3, "3", paper=CLAUSES),
    "subordination_orc-orc": design("Gross Syntactic State", SUB, 5, "5", paper=CLAUSES),
    "subordination_pp-pp": design("Gross Syntactic State", SUB, 5, "5", paper=CLAUSES),
    "subordination_src-src": design("Gross Syntactic State", SUB, 5, "5", paper=CLAUSES),
}


@cache
def suites() -> list[Suite]:
    """The bundled suites, read once."""
    return list(syntagm.read_suites("hu2020"))


def suite(name: str) -> Suite:
    (found,) = (one for one in suites() if one.name == name)
    return found


def words(sentence: Sentence) -> list[str]:
    """The texts of the regions, in order."""
    return [sentence.text[region.start : region.end] for region in sentence.regions]


def rows(item: Item) -> dict[str, list[str]]:
    """The texts of the regions by condition."""
    return {condition: words(sentence) for condition, sentence in item.sentences.items()}


def items(name: str) -> list[dict[str, list[str]]]:
    """The texts of the regions by condition, one dict an item."""
    return [rows(item) for item in suite(name).items]


def joined(contents: list[str]) -> str:
    return " ".join(content for content in contents if content)


def nodes(node: Node) -> list[Binary]:
    """A formula's parts, itself included."""
    return [node, *nodes(node.left), *nodes(node.right)] if isinstance(node, Binary) else []


def numbered(name: str, formula: str) -> list[str]:
    """The conjuncts of a formula, as printed, with region names as numbers."""
    sentence = next(iter(suite(name).items[0].sentences.values()))
    order = {region.name: str(number) for number, region in enumerate(sentence.regions, 1)}
    return [_print(part, order) for part in _conjuncts(parse(formula).tree)]


def _conjuncts(node: Node) -> list[Node]:
    if isinstance(node, Binary) and node.operator == "&":
        return _conjuncts(node.left) + _conjuncts(node.right)
    return [node]


def _print(node: Node, order: dict[str, str]) -> str:
    if isinstance(node, Reference):
        return f"({order.get(node.region, node.region)};{node.condition})"
    if isinstance(node, Binary):
        return f"[{_print(node.left, order)} {node.operator} {_print(node.right, order)}]"
    return str(node)


def side(node: Node) -> list[Reference]:
    """The regions that a side of a comparison adds up, in order; empty if it is something else."""
    if isinstance(node, Reference):
        return [node]
    if isinstance(node, Binary) and node.operator == "+":
        left, right = side(node.left), side(node.right)
        return left + right if left and right else []
    return []


def compared(suite: Suite) -> list[tuple[list[Reference], list[Reference]]]:
    """What the predictions set against each other: by < > =, or as a difference of bits."""
    found = [
        (side(node.left), side(node.right))
        for prediction in suite.predictions
        for node in nodes(prediction.formula.tree)
        if node.operator in "<>=-"
    ]
    return [(left, right) for left, right in found if left and right]
