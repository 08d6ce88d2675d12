"""What single words can do, by hand: lists of common words, none of them complete. A word in no list passes."""

from .english import listed

# Verbs that are natural without an object, in some use: "she ate", "he never disappoints", "it sold", "they met".
CAN_DROP = listed(
    """
    accelerate accept act add adjust advance agree aim answer apologize appeal applaud apply approach argue arrive
    ask attack attend bake bathe bat begin bet bend bite bleed block blow board boast boil bomb bounce bow break
    breathe brush build burn burst buy call camp care carve cash catch celebrate change charge chase chat cheat
    check cheer chew chop clap clean climb close collapse collect comb come commit complain compose compute
    concentrate conclude confess confide conquer consent consume contribute cook cool copy cough count cover crack
    crash criticize cross cry cut dance darken date deal decide decline decrease deflate deliver develop dictate die
    diet dig dine direct disagree disappear disappoint discriminate dissolve dive divide divorce dock donate double
    draft drain draw dream dress drill drink drive drop drown dry dust eat edit elope embarrass embroider empty end
    enlist enroll enter entertain erase escape evacuate evaporate exaggerate examine exercise expand explain explode
    explore exploit express face fade fail faint fall farm fast feed feel fight fill film finish fire fish fit flee
    float flood fly fold follow forget forgive freeze frighten fry gallop gamble garden gather generalize give glow
    golf gossip govern grade graduate graze grill grind grow guard guess guide hammer harvest hatch haul heal hear
    heat heckle help hesitate hide hike hit hope howl hum hunt hurry hurt imagine imitate impress improve improvise
    increase inflate inform inherit inquire inspect insist interfere interrupt intervene interview intrude invade
    invent invest investigate invite iron itch joke judge juggle jump kick kill kiss kneel knit knock know land
    laugh lead leak lean learn leave lecture lie lift limp listen litter live load lock look loosen lose lunch
    manage march marry masticate measure meditate meet melt memorize migrate miss moan mop mourn move mow multiply
    murmur nag nap negotiate nod nurse obey object observe offend open operate order overeat overhear pack paint
    panic park participate party pass pay pedal perform persist phone photograph pick pilot pitch plan plant play
    please plot plow plunder point polish pray preach predict prepare press proceed produce program promise
    pronounce protest provoke publish pull punch push quarrel question quit quote race rake read rebel recall recede
    receive recite recover recruit recycle refuse register regret rehearse relax remember renovate rent repeat
    repent report reproduce resign resist respond rest retire retreat return revise revolt reward rhyme ride ring
    rinse rip roast roll row rule run rush sacrifice sail salute save saw score scrape scratch scream scrub sculpt
    search see sell serve settle sew shake sharpen shatter shave shift shine ship shiver shock shoot shop shout
    shovel shower shrink shut sigh sign sing sink sip sit sketch ski slam sleep slice slide slip smash smell smile
    smoke snack snap sneeze sniff snore sob sow speak spell spend spin spit split spray spread squeeze stand stare
    start startle starve steal steer step stink stir stitch stop strain stretch strike study submit succeed suffer
    sulk surf surprise surrender survive swallow sweat sweep swim swing tan tap taste teach tear tease telephone
    tell testify text thaw think threaten throw tickle tighten tilt tip tire topple trade train translate travel
    treat trespass triumph trust try tug turn twirl type understand undress unload unpack urinate vacuum vanish vary
    visit volunteer vomit vote wait wake walk wander warm warn wash watch wave weave weed weep weigh whisper whistle
    win wink withdraw wonder work worry worship wrestle write yawn yell yield
    """
)
# Verbs that are odd without an object in every use: not for good sentences without one.
NEEDS_OBJECT = listed(
    """
    abandon abolish accompany accomplish accuse achieve acquire adore afford ambush amend arrest assassinate attain
    avenge await bandage banish befriend blame bless borrow bribe bury buttress capture cause clothe clutch commend
    compliment confront congratulate console construct contact convince damage defeat demolish deny describe despise
    devise devour disguise dismiss dispel disregard eliminate embrace employ encounter endanger envy erect escort
    expel extinguish fetch fling formulate fulfil fulfill greet harass hire honor hug humiliate ignore implement
    imprison inhabit injure insult introduce kidnap lack liberate mention misplace nudge occupy ornament outlive
    outnumber outwit overlook overthrow overwhelm pardon pity pocket portray possess praise preserve procure promote
    purchase raise rebuke reject replace rescue resemble restrain restrict retain rob rebuff scold silence subdue
    summon tackle thank undermine wound
    """
)
# Verbs that take an object in some use: "walk the dog", "dream a dream", "dance a tango", "he laughed it off" aside.
CAN_TAKE = listed(
    """
    accept admire advance answer approach arrest bake bark beat bend bite bleed blink blow boil bounce bow break
    breathe burn burst buy call carry catch change chase cheer clean climb close collapse comb cook cool crack crash
    cross cry curl dance dangle darken decline deflate demonstrate dictate dissolve dive double drain draw dream
    dress drill drink drip drive drop drown dry eat empty end enter escape evacuate explode explore fade fail fight
    fill finish fire fish fit flash float flood fly fold follow forget freeze fry gallop gather glow graze grill
    grind groan grow growl hang hatch heal hear heat help hide hike hit hum hunt hurry hurt improve increase inflate
    invest jump kick kill kiss knit knock know land lead leak lean learn leave lift light live lock loosen lose
    march marry measure meet melt mix moan mourn move mow nod obey open pace pack paint park pass pay perform phone
    play please plow practice pray preach press protest prove pull push quit race rattle read rehearse relax
    remember resign rest retire retreat return ride ring rip roast roll rotate row ruin run rush rust sail sell
    serve settle shake sharpen shatter shave shed shift shine ship shoot shout shrink shut sing sink sit skip slam
    slide slip smash smell smile smoke snap sniff sound spill spin spit split spread sprout squeeze stagger stand
    stare start starve steer stop stretch strike study suffer survive swallow sway sweat sweep swim swing talk taste
    teach tear tell think thaw throw tighten tilt tip tire topple translate travel turn twirl twist type unfold
    visit wait wake walk wander warm wash watch wave weep weigh whip whisper whistle win wink work worry write yell
    """
)
# Verbs that take no object in any use: not for good sentences with one, and not for good passives.
NO_OBJECT = listed(
    """
    apologize appear arrive blush brawl chat chuckle compete complain cringe crouch daydream despair die disagree
    disappear doze elapse emerge exist faint fidget flinch flirt frown gasp giggle gossip grin grumble happen
    hesitate joke kneel laugh limp linger listen loiter lurk marvel meddle occur participate persevere persist
    proceed quarrel rebel rejoice remain scowl seem shiver shudder sigh slumber smirk sneeze snooze snore sob
    squabble stay strive struggle stumble sulk swoon sympathize toil tremble trespass triumph vanish whine wince
    yawn
    """
)
# Verbs that can describe what happens to their subject: "the ice melted"; and what sells, reads or cuts well.
CAN_HAPPEN = listed(
    """
    awaken bend boil bounce break burn burst change clean close cook cool crack crumble cut dangle darken decrease
    deflate dissolve double drain drop drown dry empty end evaporate expand explode fade fill fly fold freeze fry
    grow heal heat improve increase inflate iron loosen melt move open peel photograph read return rip ripen roast
    roll rotate scatter sell shake sharpen shatter shift shrink shut sink slide smash snap spill spin split spread
    start stop stretch swing tear thaw thicken tighten tilt topple translate turn twirl unfold wake warm wash widen
    """
)
# Raising: "expect there to be", "there is likely to be". The adjectives include participles of such verbs.
RAISING_VERBS = listed(
    """
    acknowledge allow announce assume believe cause conceive consider declare deem desire enable estimate expect
    fear feel find force guess guarantee hate hold imagine intend judge know like love mean need observe order
    perceive permit predict prefer presume prove recognize remember report require reveal show suppose suspect take
    think understand want will wish
    """
)
SUBJECT_RAISING_VERBS = listed(
    """
    appear begin cease chance come commence continue fail get happen have look need promise prove seem start stop tend
    threaten turn use
    """
)
RAISING_ADJECTIVES = listed(
    """
    about alleged apt assumed believed bound certain considered destined determined due expected fated feared found
    going guaranteed held imagined intended known liable likely meant needed observed permitted predicted prone
    proven reported rumored said scheduled seen set shown supposed sure thought unlikely unsure
    """
)
TOUGH_ADJECTIVES = listed(
    """
    amusing annoying awkward boring comfortable convenient cruel dangerous delightful difficult dull easy
    embarrassing enjoyable exciting expensive fascinating fit frustrating fun good great hard horrible impossible
    inconvenient interesting nice painful pleasant ready safe simple straightforward terrible tiresome tough tricky
    unpleasant
    """
)
# Things by one meaning, people or animals by another: no test of animacy.
ALSO_ANIMATE = listed(
    """
    bat bug bull bulldog butterfly charger chicken companion computer counter crane date doll dove duck dummy fan
    figure fish guide hawk idol jack judge kid kiwi knight lamb lobster mole monitor mummy mouse mule mustang oyster
    parasite partner pawn peacock pig plant pony porter pupil queen recorder rocker ruler rusher seal server shrimp
    slider snail sponge star tart teller toad tuna turkey turtle usher veal walker worm
    """
)

PEOPLE = listed(
    """
    actor actress adult artist athlete author baby baker banker boss boy bride builder burglar businessman
    businesswoman butcher captain carpenter cashier chef child clerk coach congressman congresswoman cook criminal
    customer dancer daughter dentist designer detective director doctor driver duchess duke editor emperor engineer
    expert explorer farmer father fisherman friend gardener general gentleman girl governor grandfather grandmother
    groom guard guest guide hero heroine historian hostess hunter husband infant inspector inventor journalist judge
    king lady landlady landlord lawyer leader librarian man manager mayor mechanic member merchant minister monk
    mother musician neighbor nephew niece novelist nun nurse officer painter passenger patient person pianist pilot
    player plumber poet policeman policewoman politician president priest prince princess prisoner professor pupil
    queen reporter runner sailor salesman saleswoman scientist secretary senator sheriff singer sister son soldier
    spy stranger student surgeon swimmer tailor teacher teenager thief tourist traveler uncle visitor waiter
    waitress widow witness woman worker writer
    """
)
