"""What the pairs of each paradigm are: the shapes of both sentences, the words that differ, and the lemmas that must not.

Written from the published descriptions (Warstadt et al. 2020) and from reading the sentences, not from the templates.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Paradigm:
    """The patterns of grammar.py for the good and the bad sentence, and the words that make the difference.

    `edit` is "word" (one word for another, all else the same), "words" (several for as many), "order" (the same words),
    or words that are lost and gained, as in "that -> who" ("N -> ADJ" for a noun and an adjective). `relation` says how one
    word and the other are related: they differ in number, or in form (of the same verb), or in lemma (in the same form).
    `words` are lists of lexical.py that a word of the good or bad sentence must not be in.
    """

    good: str
    bad: str
    edit: str = "word"
    relation: str = ""
    words: tuple[tuple[str, str, str], ...] = ()


DETERMINER = "NP:s VG:s DEM:n N:n ."
WITH_ADJECTIVE = "NP:s VG:s DEM:n ADJ N:n ."
PARADIGMS = {
    "adjunct_island": Paradigm(
        "WHO AUXQ:n DEF:n BASE=v before/after/while ING=w DEF ? | WHO AUXQ:n DEF:n BASE=v instead of ING=w DEF ?",
        "WHO AUXQ:n DEF:n BASE=v DEF before/after/while ING=w ? | WHO AUXQ:n DEF:n BASE=v DEF instead of ING=w ?",
        "order",
    ),
    "anaphor_gender_agreement": Paradigm("NP:n VG:n REFL:n .", "NP:n VG:n REFL:!n ."),
    "anaphor_number_agreement": Paradigm("NP:n VG:n REFL:n .", "NP:n VG:n REFL:!n ."),
    "animate_subject_passive": Paradigm("NP:n PASS:n by DEM:d N:d=a .", "NP:n PASS:n by DEM:d N:d=a .", relation="lemma", words=(("bad", "a", "ALSO_ANIMATE"),)),
    "animate_subject_trans": Paradigm("DEM:n N:n=a VG:n NP .", "DEM:n N:n=a VG:n NP .", relation="lemma", words=(("bad", "a", "ALSO_ANIMATE"),)),
    "causative": Paradigm("NP:n VG:n=v NP .", "NP:n VG:n=v NP .", relation="lemma", words=(("good", "v", "NO_OBJECT"), ("bad", "v", "CAN_TAKE"))),
    "complex_NP_island": Paradigm(
        "who AUXQ:n THE:n that/who PAST DEF BASE ?", "who AUXQ:n DEF:n BASE THE that/who PAST=v ?", "order"
    ),
    "coordinate_structure_constraint_complex_left_branch": Paradigm(
        "WHICH N AUXQ:n DEF:n BASE and DEF BASE ?", "WHICH AUXQ:n DEF:n BASE N and DEF BASE ?", "order"
    ),
    "coordinate_structure_constraint_object_extraction": Paradigm(
        "WHO AUXQ DEF and DEF BASE ?", "WHO AUXQ:n DEF:n BASE and DEF ?", "order"
    ),
    "determiner_noun_agreement_1": Paradigm(DETERMINER, DETERMINER.replace("N:n", "N:!n"), relation="number"),
    "determiner_noun_agreement_2": Paradigm(DETERMINER, DETERMINER.replace("N:n", "N:!n"), relation="number"),
    "determiner_noun_agreement_irregular_1": Paradigm(DETERMINER, DETERMINER.replace("N:n", "N:!n"), relation="number"),
    "determiner_noun_agreement_irregular_2": Paradigm(DETERMINER, DETERMINER.replace("N:n", "N:!n"), relation="number"),
    "determiner_noun_agreement_with_adj_2": Paradigm(WITH_ADJECTIVE, WITH_ADJECTIVE.replace("N:n", "N:!n"), relation="number"),
    "determiner_noun_agreement_with_adj_irregular_1": Paradigm(WITH_ADJECTIVE, WITH_ADJECTIVE.replace("N:n", "N:!n"), relation="number"),
    "determiner_noun_agreement_with_adj_irregular_2": Paradigm(WITH_ADJECTIVE, WITH_ADJECTIVE.replace("N:n", "N:!n"), relation="number"),
    "determiner_noun_agreement_with_adjective_1": Paradigm(WITH_ADJECTIVE, WITH_ADJECTIVE.replace("N:n", "N:!n"), relation="number"),
    "distractor_agreement_relational_noun": Paradigm(
        "THE:n of THE:!n,a VG:n . | THE:n of THE:!n,a BE:n ADJ .",
        "THE:n of THE:!n,a VG:!n,a . | THE:n of THE:!n,a BE:!n,a ADJ .", relation="number"),
    "distractor_agreement_relative_clause": Paradigm(
        "THE:n REL VG:n THE:!n,a VG:n .", "THE:n REL VG:n THE:!n,a VG:!n,a .", relation="number"),
    "drop_argument": Paradigm("NP:n VG:n=v .", "NP:n VG:n=v .", relation="lemma", words=(("good", "v", "NEEDS_OBJECT"), ("bad", "v", "CAN_DROP"))),
    "ellipsis_n_bar_1": Paradigm(
        "DEF PAST NUM ADJ N:n and/but DEF PAST NUM:n .", "DEF PAST NUM N:n and/but DEF PAST NUM:n ADJ .", "order"
    ),
    "ellipsis_n_bar_2": Paradigm(
        "DEF PAST NUM:n N:n and/but DEF PAST NUM:n ADJ N:n .", "DEF PAST NUM:n ADJ N:n and/but DEF PAST NUM:n ADJ .", "N -> ADJ"
    ),
    "existential_there_object_raising": Paradigm(
        "NP PAST=v there to be SOME ING .", "NP PAST=v there to be SOME ING .", relation="lemma", words=(("bad", "v", "RAISING_VERBS"),)),
    "existential_there_quantifiers_1": Paradigm(
        "there BE:n WEAK:n N:n ING .", "there BE:n STRONG:n N:n ING ."
    ),
    "existential_there_quantifiers_2": Paradigm(
        "STRONG:n N:n BE:n there ING .", "there BE:n STRONG:n N:n ING .", "order"
    ),
    "existential_there_subject_raising": Paradigm(
        "there BE:n ADJ=a to be WEAK:n N:n ING .", "there BE:n ADJ=a to be WEAK:n N:n ING .", relation="lemma", words=(("bad", "a", "RAISING_ADJECTIVES"),)),
    "expletive_it_object_raising": Paradigm(
        "NP PAST=v it to be ADJ that NP:m VG:m .", "NP PAST=v it to be ADJ that NP:m VG:m .", relation="lemma", words=(("bad", "v", "RAISING_VERBS"),)),
    "inchoative": Paradigm("NP:n VG:n=v .", "NP:n VG:n=v .", relation="lemma", words=(("good", "v", "NEEDS_OBJECT"), ("bad", "v", "CAN_HAPPEN"), ("bad", "v", "CAN_DROP"))),
    "intransitive": Paradigm("NP:n VG:n=v .", "NP:n VG:n=v .", relation="lemma", words=(("good", "v", "NEEDS_OBJECT"), ("bad", "v", "CAN_DROP"))),
    "irregular_past_participle_adjectives": Paradigm("the EN N:n BE:n ADJ .", "the ONLYPAST N:n BE:n ADJ .", relation="form"),
    "irregular_past_participle_verbs": Paradigm("NP PAST . | NP PAST NP .", "NP ONLYEN . | NP ONLYEN NP .", relation="form"),
    "irregular_plural_subject_verb_agreement_1": Paradigm("DEF:n VG:n NP .", "DEF:n VG:!n NP .", relation="number"),
    "irregular_plural_subject_verb_agreement_2": Paradigm("THE:n VG:n . | THE:n VG:n NP .", "THE:n VG:!n . | THE:n VG:!n NP .", relation="number"),
    "left_branch_island_echo_question": Paradigm(
        "DEF:n AUX:n>a REST<a WHICH N ?", "WHICH AUXQ:n>a DEF:n REST<a N ?", "order"
    ),
    "left_branch_island_simple_question": Paradigm(
        "WHICH N AUXQ:n>a DEF:n REST<a ?", "WHICH AUXQ:n>a DEF:n REST<a N ?", "order"
    ),
    "matrix_question_npi_licensor_present": Paradigm(
        "AUXQ:n>a DEF:n ever REST<a ? | AUXQ:n>a DEF:n ever REST<a OBJ ?",
        "DEF:n AUX:n>a ever REST<a . | DEF:n AUX:n>a ever REST<a OBJ .", "order",
    ),
    "npi_present_1": Paradigm(
        "even DEF:n AUX:n>a ADV REST<a . | even DEF:n AUX:n>a ADV REST<a OBJ .",
        "even DEF:n AUX:n>a ever REST<a . | even DEF:n AUX:n>a ever REST<a OBJ .",
    ),
    "npi_present_2": Paradigm(
        "DEF:n AUX:n>a ADV REST<a . | DEF:n AUX:n>a ADV REST<a OBJ .",
        "DEF:n AUX:n>a ever REST<a . | DEF:n AUX:n>a ever REST<a OBJ .",
    ),
    "only_npi_licensor_present": Paradigm(
        "only DEF:n AUX:n>a ever REST<a . | only DEF:n AUX:n>a ever REST<a OBJ .",
        "even DEF:n AUX:n>a ever REST<a . | even DEF:n AUX:n>a ever REST<a OBJ .",
    ),
    "only_npi_scope": Paradigm(
        "only THE:n REL DEF PAST AUX:n>a ever REST<a . | only THE:n REL DEF PAST AUX:n>a ever REST<a OBJ .",
        "THE:n REL only DEF PAST AUX:n>a ever REST<a . | THE:n REL only DEF PAST AUX:n>a ever REST<a OBJ .", "order",
    ),
    "passive_1": Paradigm("NP:n PASS:n=v by NP .", "NP:n PASS:n=v by NP .", relation="lemma", words=(("good", "v", "NO_OBJECT"), ("bad", "v", "CAN_TAKE"))),
    "passive_2": Paradigm("NP:n PASS:n=v .", "NP:n PASS:n=v .", relation="lemma", words=(("good", "v", "NO_OBJECT"), ("bad", "v", "CAN_TAKE"))),
    "principle_A_c_command": Paradigm(
        "THE:n REL PAST NP:!n,a VG:n REFL:n .", "THE:n REL PAST NP:!n,a VG:n REFL:!n,a ."
    ),
    "principle_A_case_1": Paradigm("NP:n VG:n that NOM:n VG:n NP .", "NP:n VG:n that REFL:n VG:n NP ."),
    "principle_A_case_2": Paradigm("NP:n VG:n REFL:n ING NP .", "NP:n VG:n REFL:n PAST NP .", relation="form"),
    "principle_A_domain_1": Paradigm("NP:n VG:n that NP:!n,a VG:a ACC:n,!a .", "NP:n VG:n that NP:!n,a VG:a REFL:n,!a ."),
    "principle_A_domain_2": Paradigm("NP:n VG:n NP:!n,a VG:a REFL:a,!n .", "NP:n VG:n NP:!n,a VG:a REFL:n,!a ."),
    "principle_A_domain_3": Paradigm("NP:n VG:n NP:!n,a VG:a REFL:a,!n .", "NP:n VG:n NP:!n,a VG:a REFL:n,!a .", "order"),
    "principle_A_reconstruction": Paradigm("it's REFL:n REL NP:n VG:n .", "it's REFL:n REL VG:n NP:n .", "order"),
    "regular_plural_subject_verb_agreement_1": Paradigm("DEF:n VG:n NP .", "DEF:n VG:!n NP .", relation="number"),
    "regular_plural_subject_verb_agreement_2": Paradigm("THE:n VG:n . | THE:n VG:n NP .", "THE:n VG:!n . | THE:n VG:!n NP .", relation="number"),
    "sentential_negation_npi_licensor_present": Paradigm(
        "DEF:n AUX:n>a not ever REST<a . | DEF:n AUX:n>a not ever REST<a OBJ .",
        "DEF:n AUX:n>a ADV ever REST<a . | DEF:n AUX:n>a ADV ever REST<a OBJ .",
    ),
    "sentential_negation_npi_scope": Paradigm(
        "THE:n REL AUX:n>b REST<b DEF AUX:n>a not ever REST<a . | THE:n REL AUX:n>b REST<b DEF AUX:n>a not ever REST<a OBJ .",
        "THE:n REL AUX:n>b not REST<b DEF AUX:n>a ever REST<a . | THE:n REL AUX:n>b not REST<b DEF AUX:n>a ever REST<a OBJ .",
        "order",
    ),
    "sentential_subject_island": Paradigm(
        "who AUXQ:x>a POSS ING DEF REST<a ?", "who AUXQ:x>a POSS ING REST<a DEF ?", "order"
    ),
    "superlative_quantifiers_1": Paradigm(
        "no N:n VG:n more/fewer than NUM:m N:m .", "no N:n VG:n at least/most NUM:m N:m .", "words"
    ),
    "superlative_quantifiers_2": Paradigm(
        "DET:n N:n VG:n at least/most NUM:m N:m .", "no N:n VG:n at least/most NUM:m N:m ."
    ),
    "tough_vs_raising_1": Paradigm("NP:n BE:n ADJ=a to BASE=v .", "NP:n BE:n ADJ=a to BASE=v .", relation="lemma", words=(("good", "a", "RAISING_ADJECTIVES"), ("bad", "a", "TOUGH_ADJECTIVES"), ("bad", "v", "CAN_DROP"))),
    "tough_vs_raising_2": Paradigm("NP:n BE:n ADJ=a to BASE=v .", "NP:n BE:n ADJ=a to BASE=v .", relation="lemma", words=(("good", "a", "TOUGH_ADJECTIVES"), ("bad", "a", "RAISING_ADJECTIVES"), ("bad", "v", "CAN_TAKE"))),
    "transitive": Paradigm("NP:n VG:n=v NP .", "NP:n VG:n=v NP .", relation="lemma", words=(("good", "v", "NO_OBJECT"), ("bad", "v", "CAN_TAKE"))),
    "wh_island": Paradigm("WHO AUXQ:n DEF:n BASE NOM:n AUX:n>a REST<a ?", "WHO AUXQ:n DEF:n BASE who AUX>a REST<a ?"),
    "wh_questions_object_gap": Paradigm("NP PAST THE that NP:m VG:m .", "NP PAST WHO NP:m VG:m THE .", "that -> who/what"),
    "wh_questions_subject_gap": Paradigm("NP PAST THE:h that VG:h NP .", "NP PAST who THE:h VG:h NP .", "that -> who"),
    "wh_questions_subject_gap_long_distance": Paradigm(
        "NP PAST THE:h that NP PAST that VG:h NP .", "NP PAST who THE:h that NP PAST VG:h NP .", "that -> who"
    ),
    "wh_vs_that_no_gap": Paradigm("NP PAST that THE:h VG:h NP .", "NP PAST WHO THE:h VG:h NP ."),
    "wh_vs_that_no_gap_long_distance": Paradigm("NP PAST that THE:h that PAST VG:h NP .", "NP PAST WHO THE:h that PAST VG:h NP ."),
    "wh_vs_that_with_gap": Paradigm("NP PAST WHO THE:h VG:h=v .", "NP PAST that THE:h VG:h=v .", words=(("bad", "v", "CAN_DROP"),)),
    "wh_vs_that_with_gap_long_distance": Paradigm("NP PAST WHO THE:h that PAST VG:h=v .", "NP PAST that THE:h that PAST VG:h=v .", words=(("bad", "v", "CAN_DROP"),)),
}
