"""English for the validator: closed classes by hand, open classes from lemminflect; nothing from the lexicon."""

from functools import cache

import lemminflect


def listed(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


SG, PL = "sg", "pl"
# A noun phrase or verb stands for the set of what it can agree with: pairs of number and gender. "c" is unknown gender.
ALL = frozenset((number, gender) for number in (SG, PL) for gender in "fmnc")
ONE, MANY = (frozenset(pair for pair in ALL if pair[0] == number) for number in (SG, PL))

# Determiners: the number of their nouns; "mass" where they stand before mass nouns only or as well.
DETERMINERS = {
    "a": "sg", "an": "sg", "the": "sg pl mass", "this": "sg mass", "that": "sg mass", "these": "pl", "those": "pl",
    "some": "pl mass", "any": "sg pl mass", "no": "sg pl mass", "every": "sg", "each": "sg", "either": "sg",
    "neither": "sg", "another": "sg", "both": "pl", "all": "pl mass", "most": "pl mass", "many": "pl", "several": "pl",
    "few": "pl", "various": "pl", "numerous": "pl", "countless": "pl", "enough": "pl mass", "my": "sg pl mass",
    "your": "sg pl mass", "his": "sg pl mass", "her": "sg pl mass", "its": "sg pl mass", "our": "sg pl mass",
    "their": "sg pl mass", "one": "sg",
}  # fmt: skip
NUMERALS = listed("two three four five six seven eight nine ten eleven twelve")
DETERMINERS |= dict.fromkeys(NUMERALS, "pl")
INDEFINITE = NUMERALS | listed("a an some no another many several few various numerous countless enough any one")
STRONG = listed("every each all most both either neither the this that these those")
PRONOUNS = {
    "I": MANY, "we": MANY, "you": MANY, "he": {(SG, "m")}, "she": {(SG, "f")}, "it": {(SG, "n")},
    "they": MANY,
}  # fmt: skip
# "Themselves" is also said of one person of unknown gender ("c"), not of one whose gender the noun or name tells.
SOMEBODY = MANY | {(SG, "c")}
ACCUSATIVES = {"him": {(SG, "m")}, "her": {(SG, "f")}, "them": SOMEBODY}
REFLEXIVES = {
    "himself": {(SG, "m")}, "herself": {(SG, "f")}, "itself": {(SG, "n")}, "themselves": SOMEBODY,
}  # fmt: skip

AUXILIARIES = {
    "is": ("be", ONE), "are": ("be", MANY), "was": ("be", ONE), "were": ("be", MANY),
    "has": ("have", ONE), "have": ("have", MANY), "had": ("have", ALL),
    "does": ("do", ONE), "do": ("do", MANY), "did": ("do", ALL),
} | dict.fromkeys(("will", "would", "can", "could", "may", "might", "must", "should", "shall"), ("modal", ALL))  # fmt: skip
# "Don't", "hasn't": the same, and negative.
CONTRACTED = {
    f"{word}n't": features
    for word, features in AUXILIARIES.items()
    if word not in ("will", "can", "may", "might", "shall")
} | {"won't": ("modal", ALL), "can't": ("modal", ALL)}
AUXILIARIES |= CONTRACTED

WH = listed("who whom what which whose when where why how")
CONNECTIVES = listed("and but or not that there than being been be while after before instead even only")
PREPOSITIONS = listed(
    """
    of to by with for from at on in into onto about over under near beside behind off through during across against along
    around up down
    """
)
PARTICLES = listed("up out off down away back asleep alone late nearby upstairs downstairs abroad")
TIMES = listed("morning evening day night week month year summer winter")
PLACES = listed("Paris London")
MIDDLE = listed("not never ever still soon already always")
# Verbs after which a preposition stands on its own, and verbs whose object it lacks ("she relied on"): both end a sentence
# of one paradigm.
ON_ITS_OWN = listed(
    """
    march drive walk ride sail hurry sleep play sing fight limp stagger read work wander rush climb fly stroll swim sneak
    crawl drop move run topple
    """
)
LACKS_OBJECT = listed(
    """
    rely depend insist comment concentrate elaborate embark dwell pounce remark believe confide delight indulge invest
    meddle participate rejoice specialize trust abide argue boast brag complain daydream fantasize gossip grumble joke
    quarrel whine worry hear talk deal agree decide know think care dream cry agonize fuss gloat preside squabble weep haggle
    """
)
# Verbs whose particle may end the sentence: "she gave up".
PARTICLE_VERBS = {
    "up": listed("give get wake grow stand"),
    "out": listed("run"),
    "away": listed("run"),
    "down": listed("sit"),
} | dict.fromkeys(("on", "in", "by", "about", "over"), ON_ITS_OWN | LACKS_OBJECT)
FREQUENCY = listed("always usually often sometimes rarely seldom never frequently occasionally regularly")
# Words that no sentence ends with, unless a gap is allowed.
DANGLING = PREPOSITIONS | DETERMINERS.keys() - NUMERALS - {
    "one",
    "few",
    "many",
    "several",
    "some",
    "all",
    "both",
    "her",
    "his",
}
DANGLING |= {"and", "or", "but", "not", "ever", "than", "least", "most"} | PARTICLE_VERBS.keys()

# By their first sound; other words by their first letter.
CONSONANTS = tuple(
    listed("eu ewe one once ouija ubiquit unanim unic unif union uniq unit univers ura usa use usu uten util utop uku")
)
VOWELS = ("heir", "honest", "honor", "honour", "hour", "x-ray")

FEMININE_NAMES = listed(
    """
    Abigail Adele Agnes Aisha Akiko Alice Amanda Amelia Amina Amy Andrea Angela Anita Anna Astrid Barbara Beatrice
    Betty Bianca Brenda Bridget Brigitte Carmen Caroline Carolyn Catherine Cecilia Charlotte Cheryl Chiara Christine
    Claire Clara Colette Constance Cynthia Daphne Deborah Deirdre Diana Diane Dolores Doris Dorothy Edith Edna
    Eleanor Elena Elizabeth Ella Ellen Emily Emma Esther Evelyn Fatima Fiona Florence Francesca Gabriela Giulia
    Gloria Greta Hannah Harriet Heather Heidi Helen Henrietta Ingrid Irene Isabel Isabella Jacqueline Jane Janet
    Jennifer Jessica Josephine Joyce Judith Julia Julie Juliette Kate Katherine Kathleen Keiko Lakshmi Laura Leila
    Linda Louise Lucia Lucy Lydia Mabel Margaret Maria Mariam Marie Marjorie Martha Mary Matilda Meera Megan Melissa
    Michelle Miriam Molly Monica Nadia Nancy Naomi Natasha Nicole Nora Olga Olivia Pamela Paola Patricia Paula Peggy
    Penelope Philippa Phoebe Polly Priscilla Priya Rachel Rebecca Rhoda Rosa Rosemary Ruth Sally Samantha Samira
    Sara Sarah Sharon Sheila Siobhan Sofia Sophie Stephanie Sunita Susan Svetlana Sylvia Tanya Tatiana Teresa
    Theresa Tina Ursula Valentina Vanessa Veronica Victoria Wendy Winifred Yasmin Yoko Yvonne Zainab Zoe
    """
)
MASCULINE_NAMES = listed(
    """
    Aaron Abraham Adam Ahmed Albert Alexander Alfred Andrew Angus Anil Anthony Antoine Antonio Arjun Arthur Benjamin
    Bernard Boris Brandon Brian Caleb Carlos Charles Christopher Clarence Colin Connor Daniel David Dennis Diego
    Dmitri Dominic Donald Douglas Duncan Dylan Edgar Edmund Edward Elijah Eric Erik Ernest Ethan Felix Fernando
    Frederick Gabriel Gary George Gerald Giovanni Graham Gregory Hans Harold Hassan Henry Hiroshi Hugh Hugo Ian
    Ibrahim Igor Isaac Ivan Jacob Jacques James Jason Javier Jeffrey Jeremy Jerry John Jonathan Jorge Joseph Joshua
    Juan Justin Karim Karl Keith Kenji Kenneth Kevin Khalid Klaus Kofi Kwame Kyle Larry Lars Leo Leonard Liam Lucas
    Luigi Luis Magnus Malcolm Marcel Marco Martin Matthew Michael Miguel Mustafa Nathan Neil Nicholas Nigel Nikolai
    Noah Olaf Oliver Omar Oscar Otto Pablo Paolo Patrick Paul Pavel Pedro Peter Philip Pierre Rafael Rajesh Rashid
    Ravi Raymond Richard Robert Roberto Roger Ronald Rupert Samuel Sanjay Sean Sebastian Sergei Simon Stanley
    Stephen Steven Sven Takashi Tariq Theodore Thomas Timothy Trevor Tyler Victor Vikram Vincent Vladimir Walter
    William Yusuf
    """
)
FEMININE = listed(
    """
    woman girl lady widow bride queen princess actress waitress nun schoolgirl duchess landlady hostess heroine
    mother grandmother sister daughter wife aunt niece granddaughter countess empress goddess witch midwife
    housewife policewoman businesswoman congresswoman saleswoman spokeswoman sportswoman noblewoman mistress
    stewardess heiress cow hen mare ballerina headmistress cowgirl
    """
)
MASCULINE = listed(
    """
    man boy gentleman king prince actor waiter monk schoolboy duke groom landlord hero father grandfather brother
    son husband uncle nephew grandson count emperor god wizard policeman businessman congressman salesman spokesman
    sportsman nobleman fisherman fireman mailman milkman chairman statesman craftsman workman foreman cameraman
    handyman watchman clergyman doorman Englishman Frenchman Irishman Dutchman bull rooster stallion bridegroom
    bishop pope headmaster widower cowboy
    """
)
# Organizations, and machines that "it" refers to, and not "they" in the singular.
NEUTER = listed(
    """
    company government committee team council club firm agency orchestra newspaper parliament army city village tribe museum
    university navy bank hotel shop oven machine robot computer camera car radio telephone clock watch tractor truck
    """
)
# Masculine nouns that are also said of women: of unknown gender, when it matters.
EITHER = listed("actor hero chairman spokesman count god waiter")

# Nouns that stand for stuff and take no plural, and no *a*.
MASS = listed(
    """
    advice baggage bread butter clothing cutlery equipment evidence furniture garbage homework information jewelry
    knowledge luggage machinery milk money mud music news poetry progress rice sand scenery traffic trash weather
    wheat
    """
)
# What can be an object without a determiner.
STUFF = MASS | listed(
    "dinner lunch breakfast supper jazz fish wine coffee tea chess football tennis poker music meat Chinese English French"
)
# Nouns that sound unfinished without an of-phrase or a possessor, as in "a part", "a lack".
RELATIONAL = listed(
    """
    behalf lack sake kind sort type part half bottom edge side end middle front back rest owner descendant
    ancestor heir sister brother son daughter nephew niece cousin aunt uncle husband wife grandson granddaughter
    sibling spouse member equivalent beginning absence presence origin cause result
    """
)

# What lemminflect's dictionary lacks: further forms of lemmas by tag.
EXTRA = {
    "NN": {"ox": "ox", "bar": "bar", "log": "log", "top": "top", "pan": "pan"},
    "NNS": {"oxen": "ox", "bars": "bar", "people": "person", "logs": "log", "tops": "top", "pans": "pan"},
    "VBN": {"sewed": "sew", "knitted": "knit", "lain": "lie", "mowed": "mow"},
    "VBD": {"dared": "dare", "knitted": "knit"},
    "VBZ": {"dares": "dare"},
    "JJ": {
        adjective: adjective
        for adjective in listed(
            """
            metal brick stone gold silver sensible responsible complete modern convenient English Russian Chinese French
            German American British leather cotton silk wool plastic paper glass
            """
        )
    },
}  # fmt: skip
# Nouns whose plural is like the singular; lemminflect gives this as a rare plural to many more ("thought").
SAME = listed("sheep deer antelope fish pike trout salmon cod carp bass shrimp squid moose aircraft series species")
# Forms of rare words that the dictionary takes for those of common ones: the past of "fee".
REFUSED = frozenset({("feed", "fee"), ("number", "numb"), ("fell", "fell"), ("rent", "rend")})


# Words that the dictionary lacks and that aren't two of its words in one ("crowbar").
RARE = listed(
    """
    bandanna beret burger carryall clarinet congressman congresswoman county cufflink cymbal detector duchess
    harmonica harpsichord icicle juicer kimono lasagna locket mandolin satchel self-portrait sombrero T-shirt
    tambourine tattoo tiara trunk ukulele yo-yo Englishman Frenchman Irishman Dutchman it's ever than European
    """
)


def is_known(word: str) -> bool:
    """Say whether a word is in the dictionary or in a list: if not, it may be misspelt."""
    bare = word.removesuffix("'s")
    if name(bare) or bare in PLACES:
        return True
    lower = bare[:1].lower() + bare[1:]
    closed = (DETERMINERS, PRONOUNS, ACCUSATIVES, REFLEXIVES, AUXILIARIES, WH, PREPOSITIONS, CONNECTIVES, RARE)
    if any(lower in words for words in closed):
        return True
    if _dictionary(bare) or _dictionary(lower):
        return True
    lemmas = {lemma for form in (bare, lower) for _, lemma in _out_of_vocabulary(form)}
    return any(lemma in RARE or _is_compound(lemma) for lemma in lemmas)


def _is_compound(lemma: str) -> bool:
    return any(
        "NN" in tags(lemma[:place]) and "NN" in tags(lemma[place:])
        for place in range(3, len(lemma) - 2)
        if _dictionary(lemma[:place]) and _dictionary(lemma[place:])
    )


def question(words: list[str]) -> bool:
    return words[0] in AUXILIARIES or words[0] in WH


@cache
def readings(word: str) -> frozenset[tuple[str, str]]:
    """Return the readings of a word as pairs of Penn tag and lemma; a word that is in no list is taken for a noun."""
    word = word.removesuffix("'s")
    if not word[-1:].isalpha():
        return frozenset()
    return _dictionary(word) or frozenset(_out_of_vocabulary(word))


@cache
def _dictionary(word: str) -> frozenset[tuple[str, str]]:
    found = {(tag, forms[word]) for tag, forms in EXTRA.items() if word in forms}
    for upos, lemmas in lemminflect.getAllLemmas(word).items():
        for lemma in lemmas:
            inflections = lemminflect.getAllInflections(lemma, upos)
            if "VBN" not in inflections and "VBD" in inflections:
                # A participle is listed only where it differs from the past.
                inflections["VBN"] = inflections["VBD"]
            found |= {(tag, lemma) for tag, forms in inflections.items() if _listed(word, tag, lemma, forms)}
    if any(tag == "NNS" and lemma != word for tag, lemma in found) and word.endswith("s"):
        found.discard(("NN", word))  # "The letters": not the singular "letters".
    return frozenset(found)


def _listed(word: str, tag: str, lemma: str, forms: tuple[str, ...]) -> bool:
    zero_plural = tag == "NNS" and word == lemma and forms[0] != word and word not in SAME
    return word in forms and not zero_plural and (word, lemma) not in REFUSED


def _out_of_vocabulary(word: str) -> set[tuple[str, str]]:
    """Return the readings as a noun, by rule, of a word that the dictionary lacks."""
    found = {("NN", word)}
    for singular, plural in (("woman", "women"), ("man", "men")):
        if word.endswith(plural):
            return {("NNS", word.removesuffix(plural) + singular)}
    if word.endswith("s") and not word.endswith("ss"):
        found = {("NNS", lemma) for lemma in lemminflect.getAllLemmasOOV(word, "NOUN").get("NOUN", ())}
    return found


def tags(word: str) -> frozenset[str]:
    return frozenset(tag for tag, _ in readings(word))


def lemmas(word: str, *wanted: str) -> frozenset[str]:
    """Return the lemmas of a word under the given tags."""
    return frozenset(lemma for tag, lemma in readings(word) if tag in wanted)


@cache
def noun(word: str) -> frozenset[tuple[str, str]]:
    """Return what a noun agrees with: all pairs of a number that it can have and the genders of its lemma."""
    return frozenset(
        (SG if tag == "NN" else PL, gender)
        for tag, lemma in readings(word)
        if tag in ("NN", "NNS")
        for gender in gender_of(lemma)
    )


def gender_of(lemma: str) -> str:
    if lemma in EITHER:
        return "fmc"
    if lemma in NEUTER:
        return "n"
    return "f" if lemma in FEMININE else "m" if lemma in MASCULINE else "fmnc"


def name(word: str) -> frozenset[tuple[str, str]]:
    """Return what a name agrees with; empty for other words."""
    if word in FEMININE_NAMES:
        return frozenset({(SG, "f")})
    return frozenset({(SG, "m")}) if word in MASCULINE_NAMES else frozenset()


@cache
def finite(word: str) -> frozenset[tuple[str, str]]:
    """Return what a finite main verb agrees with; empty for other words."""
    if name(word):
        return frozenset()
    agreed = {"VBZ": ONE, "VBP": MANY, "VBD": ALL}
    return frozenset().union(*(agreed.get(tag, frozenset()) for tag in tags(word)))


def article_fits(article: str, word: str) -> bool:
    word = word.lower()
    vowel = word.startswith(VOWELS) or (word[0] in "aeiou" and not word.startswith(CONSONANTS))
    return (article.lower() == "an") == vowel
