"""A lexicon in a folder, for tests."""

FILES = {
    "schema.toml": """
[trees.kind]
person = ""
job = "person"
thing = ""
food = "thing"
tool = "thing"
weapon = "tool/thing"
[classes.noun]
about = "nouns"
forms = ["sg", "pl"]
[classes.noun.features]
count = { values = ["count", "mass"], about = "countable" }
kind = { tree = "kind", closed = true }
note = { about = "anything" }
[classes.verb]
forms = ["base", "past"]
uses = "verb_use"
[classes.verb.features]
aspect = { values = ["state", "event"] }
[classes.verb.use_features]
frame = { values = ["transitive", "intransitive"] }
object = { tree = "kind" }
""",
    "noun.csv": "sg,pl,count,kind,note\ncook,cooks,count,job,-\nbread,-,mass,food,x y\nknife,knives,count,weapon,a/b\n",
    "verb.csv": "base,past,aspect\ncut,cut,event\nsleep,slept,state\neat,ate,event\n",
    "verb_use.csv": "verb,frame,object\ncut,transitive,food\neat,transitive,food\neat,intransitive,-\nsleep,intransitive,-\n",
    "phrases.toml": '[classes]\nitem = "noun[kind = thing]"\n[phrases]\n"the(head)" = "the {head.sg}"\n',
}
