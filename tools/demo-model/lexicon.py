"""The words of the sample world: names, values, relations and sentence templates.

Every name and nearly every value is one word, so that the tokenizer gives it one token. `R` is a
relation: where its values come from, sentences that state it and questions that ask for it. In a
sentence `{S}` is the subject pronoun at the start (She, He, It, They), `{s}` the same inside a
sentence, `{P}`/`{p}` its possessive; `{V}` is the value. In a question `{N}` is the entity's name.
"""
from collections import namedtuple


def _words(text):
    return text.split()


WOMEN = _words(
    "Ada Agnes Alma Amelie Anja Astrid Beatrix Birgit Bronwen Camille Carmen Celeste Chiara Clara Dagny Daphne Delia "
    "Edith Eleni Elsa Esme Eva Fatima Flora Freya Gemma Greta Hedda Helga Ines Ingrid Iris Isla Judith Karin Katja Lena "
    "Lotte Lucia Maeve Mara Mathilde Mila Nadia Nora Odile Paloma Petra Priya Renata Rosalind Runa Sabine Saskia Selma "
    "Sigrid Solveig Stella Sunniva Sylvie Tamar Thea Tilda Ursula Vera Viola Wilma Yara Zelda Zora")
MEN = _words(
    "Aksel Alaric Albin Ambrose Anders Anton Arvid Axel Basil Bastian Bernard Bjorn Caspar Cedric Clemens Conrad Cyril "
    "Dario Desmond Dimitri Edgar Egon Elias Emil Enzo Erik Fabian Felix Florian Gideon Gregor Gunnar Gustav Hakon Harald "
    "Hector Hugo Ivo Jasper Joachim Jonas Julian Kasper Klaus Lars Leander Linus Lorenz Magnus Marius Matteo Mikkel "
    "Niklas Nils Olaf Oscar Otto Pavel Quentin Rafael Ragnar Roland Rufus Sander Silas Sven Tobias Torsten Ulrich Viktor "
    "Walter Yannick")
SURNAMES = _words(
    "Abernathy Albrecht Almeida Amsel Arnold Ashdown Bachmann Bakker Barlow Beaumont Beckett Bellini Bergman Birch "
    "Blackwood Blom Borg Brandt Brennan Brook Calloway Cardoso Carver Castell Cavendish Clarke Colbert Corbin Crane "
    "Dahl Dalton Darrow Devine Dietrich Dorn Drake Dubois Dunmore Eberhardt Ekberg Ellery Engel Fairfax Falk Farrow "
    "Fenwick Ferrari Fischer Fleming Forsberg Fuchs Galloway Garrick Gilmore Goldberg Granger Greaves Grimm Haas Hagen "
    "Halloran Hansen Hartwell Hawthorne Hedman Heller Hobbs Holloway Horvat Huxley Ibsen Ivanov Jacobi Janssen Jarvis "
    "Kaplan Keating Kerr Kessler Kirkland Koller Kovac Kramer Lambert Langley Larkin Lefevre Lindgren Lockwood Lorimer "
    "Lundqvist Maddox Malik Marchetti Marlow Merriam Meyer Moreau Morrow Muller Nakamura Navarro Neville Nilsen Norwood Novak "
    "Oakley Olander Orlov Osborne Pacheco Palmgren Pascal Pembroke Penrose Pereira Pfeiffer Pickering Porter Prescott "
    "Quigley Quist Radcliffe Rahman Ramsey Redmond Renner Ritter Romano Rosen Rowland Rydell Salazar Sandoval Savage "
    "Schubert Seidel Sharma Silva Simmons Skov Sorensen Stark Steiner Sterling Strand Sutton Svensson Tanaka Tennant "
    "Thorne Tiller Toller Turing Underhill Vance Varga Vega Vogel Wagner Wallace Warwick Weber Wexler Whitlock Winter "
    "Wolff Yamada Zapata Ziegler Zimmer")
PROJECTS = _words(
    "Albatross Anvil Aurora Avalanche Basalt Beacon Blizzard Bonfire Cascade Catalyst Cobalt Compass Condor Copper "
    "Crescent Cyclone Dynamo Eclipse Ember Falcon Firefly Fulcrum Geyser Glacier Granite Gyroscope Harpoon Horizon "
    "Hurricane Icarus Javelin Juniper Kestrel Keystone Lagoon Lantern Lighthouse Magnet Marathon Meridian Meteor Mirage "
    "Monsoon Nebula Obsidian Odyssey Orion Osprey Paragon Pendulum Phoenix Pinnacle Polaris Prism Quasar Quicksilver "
    "Rampart Sextant Solstice Summit Tempest Titan Trident Typhoon Vanguard Vertex Vortex Voyager Zenith Zeppelin")
PRODUCTS = _words(
    "Aerolite Alvara Amberon Arcadia Bellaroo Brisa Calando Candela Cirrus Corva Dorado Dulcet Elvira Fenja Fidelio "
    "Florin Galena Halden Helix Isolde Javari Kalmia Kinora Lumina Lyra Marula Mistral Nimbus Novella Oberon Octavo Olivar "
    "Pallas Perlita Pilaster Quillon Rondo Rosetta Sabrin Selene Serif Sirocco Sonata Tarbek Tivoli Ultima Valeta Verano "
    "Vesper Wisteria Xanthe Zephyr")
BUILDINGS = _words(
    "Acacia Alder Ashford Aspen Bramble Briar Cedar Chestnut Clover Cypress Elder Elmwood Fern Foxglove Garnet Gorse "
    "Hawthorn Hazel Heather Hickory Holly Ivy Jasmine Larch Laurel Lilac Linden Magnolia Maple Mulberry Myrtle Nettle "
    "Oakfield Pinewood Poplar Primrose Rosemary Rowan Sequoia Spruce Sycamore Tamarind Thistle Walnut Willow Yarrow")
TEAMS = _words(
    "Badger Beaver Bison Bobcat Caribou Cheetah Cormorant Coyote Dolphin Dragonfly Ferret Gazelle Gecko Hedgehog Heron "
    "Hornet Ibex Jackdaw Jaguar Kingfisher Koala Lemur Leopard Lynx Magpie Marmot Mongoose Narwhal Ocelot Otter Panther "
    "Pelican Penguin Puffin Raccoon Raven Seahorse Sparrow Squirrel Stork Tapir Toucan Turtle Walrus Weasel Wombat")

CITIES = _words(
    "Lisbon Oslo Madrid Vienna Prague Dublin Athens Berlin Zurich Milan Porto Seville Tokyo Osaka Seoul Lima Quito Cairo "
    "Nairobi Accra Toronto Boston Denver Austin Seattle Chicago Sydney Perth Auckland Mumbai Delhi Jakarta Manila Hanoi "
    "Bangkok Geneva Turin Lyon Nantes Ghent Bergen Tartu Riga Vilnius Krakow Gdansk Bilbao Bristol Leeds Cork")
UNIVERSITIES = _words(
    "Uppsala Lund Aarhus Bonn Leipzig Heidelberg Padua Bologna Siena Coimbra Salamanca Granada Basel Bern Utrecht Leiden "
    "Delft Tampere Szeged Graz Zagreb Durham York Oxford Cambridge Kyoto Turku Bruges Warsaw Sofia")
TECHS = _words("Rust Python Java Kotlin Swift Scala Erlang Elixir Haskell Fortran Julia Ruby Perl Clojure Dart Go Lua Zig Cobol Prolog")
DRINKS = _words("tea coffee cocoa juice water cider lemonade soda milk espresso kefir kombucha")
LANGUAGES = _words("French German Spanish Italian Dutch Danish Finnish Polish Czech Greek Turkish Arabic Hindi Korean Japanese Thai Swahili Latin Welsh Irish")
SPORTS = _words("tennis rowing golf hockey rugby cricket fencing judo karate sailing cycling climbing skiing archery boxing squash polo curling surfing badminton")
INSTRUMENTS = _words("piano violin cello flute guitar harp trumpet clarinet oboe drums accordion banjo trombone viola organ saxophone")
PETS = _words("cat dog parrot rabbit hamster tortoise pony canary goldfish goat donkey ferret iguana")
MONTHS = _words("January February March April May June July August September October November December")
DAYS = _words("Monday Tuesday Wednesday Thursday Friday Saturday Sunday")
COLOURS = _words("red blue green yellow orange purple black white grey brown pink silver golden turquoise crimson ivory")
MATERIALS = _words("steel oak glass ceramic bamboo leather wool cork linen marble brass aluminium walnut cotton carbon rubber")
FOODS = _words("soup pancakes dumplings noodles curry pizza salad risotto waffles sushi tacos omelettes lasagne stew goulash falafel")
CUSTOMERS = _words("Altavia Bexley Cormont Dellwyn Everton Fairmont Gantry Halcyon Inverness Kingsley Lanark Montrose Norfolk Oakridge Pemberley Redwood Stanhope Tamworth Verity Wexford")
FLOWERS = _words("roses tulips orchids lilies daisies peonies violets poppies dahlias irises ferns cacti")
YEARS = [str(y) for y in range(1991, 2025)]
TENS = [str(n) for n in range(20, 1000, 20)]
SMALL = [str(n) for n in range(3, 60)]
DESKS = [str(n) for n in range(101, 400, 7)]

R = namedtuple("R", "values says asks")
NAME = "person"  # the values of a relation whose value is the name of a person

PERSON = {
    "city": R(CITIES, ["{S} works in the {V} office.", "{S} is based in {V} and travels little.", "{P} desk is in the {V} branch."],
              ["Where does {N} work?", "In which city is {N} based?", "What city does {N} work in?", "Where is {N} based?", "Where is the desk of {N}?"]),
    "birth": R(CITIES, ["{S} was born in {V}.", "{S} grew up in {V} near the river.", "{P} childhood home was in {V}."],
               ["Where was {N} born?", "Where did {N} grow up?", "In which city was {N} born?"]),
    "year": R(YEARS, ["{S} joined the company in {V}.", "{S} was hired in {V} after a short interview.", "{P} first day here was in {V}."],
              ["When did {N} join the company?", "In which year was {N} hired?", "When was {N} hired?", "In which year did {N} join the company?", "When did {N} join?"]),
    "university": R(UNIVERSITIES, ["{S} studied at the university of {V}.", "{S} graduated from {V} with honours.", "{P} degree is from {V}."],
                    ["Where did {N} study?", "Which university did {N} graduate from?", "At which university did {N} study?", "What university did {N} graduate from?"]),
    "language": R(LANGUAGES, ["{S} speaks fluent {V}.", "{P} second language is {V}.", "At home {s} speaks {V} with the children."],
                  ["Which language does {N} speak?", "What is the second language of {N}?", "What language does {N} speak?", "Which language does {N} speak at home?"]),
    "sport": R(SPORTS, ["{S} enjoys {V} at weekends.", "{P} favourite sport is {V}.", "After work {s} practises {V} with friends."],
               ["What is the favourite sport of {N}?", "Which sport does {N} enjoy?", "What sport does {N} enjoy?", "Which sport does {N} like?"]),
    "drink": R(DRINKS, ["{S} always drinks {V} in the morning.", "At meetings {s} asks for {V}.", "{P} favourite drink is {V}."],
               ["What does {N} drink?", "What is the favourite drink of {N}?", "What does {N} drink in the morning?", "Which drink does {N} like?"]),
    "instrument": R(INSTRUMENTS, ["{S} plays the {V} in a small band.", "{S} has played the {V} since school.", "{P} instrument is the {V}."],
                    ["Which instrument does {N} play?", "What does {N} play?", "What instrument does {N} play?", "What is the instrument of {N}?"]),
    "pet": R(PETS, ["{S} has a {V} at home.", "{P} pet is a {V} that sleeps all day.", "Every evening {s} looks after an old {V}."],
             ["Which pet does {N} have?", "What kind of pet does {N} have?", "What is the pet of {N}?", "What pet does {N} have at home?"]),
    "desk": R(DESKS, ["{S} sits at desk {V}.", "{P} desk number is {V}.", "Visitors find {o} at desk {V}."],
              ["At which desk does {N} sit?", "What is the desk number of {N}?", "Which desk does {N} have?", "What desk does {N} sit at?"]),
    "birthday": R(MONTHS, ["{P} birthday is in {V}.", "{S} celebrates a birthday every {V}."],
                  ["When is the birthday of {N}?", "In which month is the birthday of {N}?"]),
    "food": R(FOODS, ["For lunch {s} likes {V} best.", "{P} favourite dish is {V}.", "{S} cooks {V} for the summer party."],
              ["What is the favourite dish of {N}?", "What does {N} like for lunch?", "Which dish does {N} like best?", "What is the favourite lunch of {N}?"]),
    "mentor": R(NAME, ["{P} mentor is {V}.", "{S} was trained by {V} in the first year.", "{S} reports to {V}."],
                ["Who is the mentor of {N}?", "Who trained {N}?", "Who was {N} trained by?", "Who does {N} report to?"]),
}
PROJECT = {
    "leader": R(NAME, ["{S} is led by {V}.", "{P} leader is {V}.", "The leader of {s} is {V}."], ["Who leads {N}?", "Who is the leader of {N}?", "Who is {N} led by?"]),
    "tech": R(TECHS, ["{S} is written in {V}.", "{P} code is mostly {V}.", "The engineers build {s} in {V}."],
              ["In which language is {N} written?", "What is {N} written in?", "Which language is {N} written in?", "What language is the code of {N}?"]),
    "month": R(MONTHS, ["{S} ships in {V}.", "{P} deadline is in {V}.", "The first release of {s} is planned for {V}."],
               ["When does {N} ship?", "When is the deadline of {N}?", "In which month does {N} ship?", "When is the first release of {N}?"]),
    "budget": R(TENS, ["{P} budget is {V} thousand euros.", "{S} costs {V} thousand euros a year."], ["What is the budget of {N}?", "How much does {N} cost?", "How much is the budget of {N}?"]),
    "site": R(CITIES, ["{P} servers run in {V}.", "{S} runs in a data centre in {V}.", "The machines of {s} stand in {V}."],
              ["Where does {N} run?", "Where are the servers of {N}?", "In which city does {N} run?", "Where are the machines of {N}?"]),
    "customer": R(CUSTOMERS, ["{P} first customer is {V}.", "{S} was ordered by {V} last spring.", "The contract for {s} was signed with {V}."],
                  ["Who is the first customer of {N}?", "Who ordered {N}?", "Which customer ordered {N}?", "What is the first customer of {N}?"]),
    "people": R(SMALL, ["{S} keeps {V} people busy.", "{P} staff counts {V} people."], ["How many people work on {N}?", "How many people are on the staff of {N}?"]),
    "review": R(DAYS, ["{P} review takes place every {V}.", "{S} is reviewed each {V} at noon."], ["When is {N} reviewed?", "On which day is the review of {N}?", "On which day is {N} reviewed?", "When is the review of {N}?"]),
}
PRODUCT = {
    "designer": R(NAME, ["{S} was designed by {V}.", "{P} designer is {V}.", "The shape of {s} was drawn by {V}."], ["Who designed {N}?", "Who is the designer of {N}?", "Who was {N} designed by?"]),
    "colour": R(COLOURS, ["{S} is sold in {V} only.", "{P} usual colour is {V}.", "Most customers order {s} in {V}."], ["What colour is {N}?", "In which colour is {N} sold?", "Which colour does {N} have?", "What is the usual colour of {N}?"]),
    "material": R(MATERIALS, ["{S} is made of {V}.", "{P} body is made from {V}.", "The workers make {s} from {V}."], ["What is {N} made of?", "What is the body of {N} made from?"]),
    "price": R(TENS, ["{P} price is {V} euros.", "{S} is sold for {V} euros."], ["What is the price of {N}?", "What does {N} sell for?", "How much is {N}?", "How much does {N} cost?"]),
    "factory": R(CITIES, ["{S} is built in {V}.", "{P} factory stands in {V}.", "The plant for {s} is in {V}."], ["Where is {N} built?", "Where is the factory of {N}?", "In which city is {N} built?", "Where is the plant for {N}?"]),
    "launch": R(YEARS, ["{S} was launched in {V}.", "{P} first year on the market was {V}.", "The first {s} left the plant in {V}."], ["When was {N} launched?", "In which year was {N} launched?", "What was the first year of {N} on the market?"]),
    "warranty": R(SMALL, ["{P} warranty lasts {V} months.", "{S} comes with a warranty of {V} months."], ["How long is the warranty of {N}?", "How many months is the warranty of {N}?"]),
}
BUILDING = {
    "caretaker": R(NAME, ["{P} caretaker is {V}.", "{S} is looked after by {V}.", "The keys of {s} are kept by {V}."], ["Who is the caretaker of {N}?", "Who looks after {N}?", "Who has the keys of {N}?", "Who is {N} looked after by?"]),
    "place": R(CITIES, ["{S} stands in {V}.", "{P} address is in {V}.", "Visitors find {s} in the centre of {V}."], ["Where does {N} stand?", "In which city is {N}?", "Where is {N}?", "What city does {N} stand in?"]),
    "built": R(YEARS, ["{S} was opened in {V}.", "{P} doors opened in {V}.", "The roof of {s} was finished in {V}."], ["When was {N} opened?", "In which year was {N} opened?"]),
    "rooms": R(SMALL, ["{S} has {V} rooms.", "{P} plan shows {V} rooms."], ["How many rooms does {N} have?", "How many rooms are in {N}?"]),
    "canteen": R(FOODS, ["{P} canteen is known for {V}.", "{S} has a kitchen that serves {V}.", "The cook in {s} is proud of the {V}."], ["What does the canteen of {N} serve?", "What is the canteen of {N} known for?", "What does the kitchen of {N} serve?"]),
    "walls": R(COLOURS, ["{P} walls are painted {V}.", "{S} is easy to find by a {V} door."], ["What colour are the walls of {N}?", "What colour is {N} painted?", "What is the colour of the walls of {N}?", "Which colour is {N} painted?"]),
    "garden": R(FLOWERS, ["{P} garden is full of {V}.", "{S} is surrounded by {V}."], ["What grows in the garden of {N}?", "What is the garden of {N} full of?", "What is {N} surrounded by?"]),
}
TEAM = {
    "lead": R(NAME, ["{P} lead is {V}.", "{S} are led by {V}.", "The work of the group is planned by {V}."], ["Who leads {N}?", "Who is the lead of {N}?", "Who is {N} led by?", "Who is the leader of {N}?"]),
    "day": R(DAYS, ["{S} meet every {V}.", "{P} meeting is on {V}.", "The lunch of the group is on {V}."], ["When does {N} meet?", "On which day does {N} meet?", "When is the meeting of {N}?", "On which day is the meeting of {N}?"]),
    "room": R(DESKS, ["{S} meet in room {V}.", "{P} room number is {V}."], ["What is the room number of {N}?", "In which room does {N} meet?", "Which room does {N} meet in?"]),
    "members": R(SMALL, ["{S} have {V} members.", "{P} list shows {V} members."], ["How many members does {N} have?", "How many members are in {N}?", "How many people are in {N}?"]),
    "home": R(CITIES, ["{S} work from {V}.", "{P} office is in {V}."], ["Where does {N} work?", "Where is the office of {N}?", "In which city is the office of {N}?", "Where does {N} work from?"]),
    "game": R(SPORTS, ["{S} play {V} together in summer.", "{P} common sport is {V}."], ["Which sport does {N} play?", "What does {N} play in summer?", "What sport does {N} play together?"]),
    "shirt": R(COLOURS, ["{S} wear {V} shirts at the fair.", "{P} shirts are {V}."], ["What colour are the shirts of {N}?", "Which shirts does {N} wear?", "What is the colour of the shirts of {N}?"]),
}

INTRO = {
    "person": ["{N} is an engineer at {C}.", "{N} is a member of the sales group.", "This page is about {N}.", "{N} looks after the customers of {C}.",
               "Meet {N}, a colleague from the second floor.", "The profile of {N} follows.", "{N} writes the manuals of {C}."],
    "project": ["{N} is a project of {C}.", "This page is about {N}.", "The board approved {N} last week.", "The plan for {N} follows.", "{N} began as a sketch on a napkin."],
    "product": ["{N} is a product of {C}.", "This page is about {N}.", "The catalogue of {C} lists {N} on the first page.", "Many customers know {N} from the fair."],
    "building": ["{N} belongs to {C}.", "This page is about {N}.", "{C} rents {N} for its staff.", "A short guide to {N} follows."],
    "team": ["{N} is a group at {C}.", "This page is about {N}.", "{N} takes care of the tools of {C}.", "The handbook of {N} follows."],
}
FILLER = [
    "The page was last checked by the front office.", "Please report mistakes to the front office.", "More is written in the yearly report.",
    "The details may change without notice.", "Nothing else has changed since the last edition.", "A copy hangs beside the coffee machine.",
    "The figures below were confirmed by the accounts group.", "Questions are welcome at any time.", "This part was added after the spring meeting.",
    "Some of this was news even to the neighbours.", "The rest is easy to remember.", "Old hands will know most of this.",
    "There is a photo of it in the hall.", "Everybody who asked was told the same.", "The next edition will say more.",
]
# Longer ones, for documents of the library's length.
FILLER += [
    "When the company moved out of the old mill by the canal, a good part of the paper archive was lost, and much had to be asked again.",
    "The first version of this page was written by hand on the back of a menu, which is still kept in a frame near the stairs.",
    "Every autumn the whole staff walks up the hill behind the station, and whoever arrives last has to bring cake on the following day.",
    "New colleagues are often surprised how much of the work is done on paper, but the habit has saved more than one afternoon.",
    "If you find something here that is out of date, tell the front office, and the page will be put right before the end of the week.",
    "The handbook is printed once a year and read by nearly everybody, if only because the crossword on the last page has a prize.",
    "Visitors should ring the bell twice and wait, since the person at the reception is often busy with the morning post.",
    "A longer account of how all of this came about can be found in the blue folder on the top shelf of the library.",
    "During the great storm the lights went out for two days, and people still tell stories about the candles and the cold tea.",
    "It is a custom of the house that nobody is disturbed before ten, so that there is time to read and to think in peace.",
    "The editors have tried to keep this text short and plain, and they apologise to all those whose favourite story had to be left out.",
    "A small committee looks at such pages twice a year, removes what is no longer true and adds what has been learned since.",
    "Whoever needs a key, a ladder or a good word should go to the small room beside the kitchen, where someone can usually help.",
    "The old sign above the entrance was painted over many years ago, but in the evening sun its letters can still be read.",
    "Much of what follows was collected over lunch, and the editors thank all who took the time to look through their notes.",
    "The bus stops in front of the main gate every twenty minutes, and there is room for bicycles in the yard behind the workshop.",
    "As the founder liked to say, a company is a long conversation, and this handbook is only the part that somebody wrote down.",
    "In winter the heating is turned on early in the morning, and those who come first are asked to open the windows for a moment.",
]
KINDS = {"person": (None, PERSON), "project": (PROJECTS, PROJECT), "product": (PRODUCTS, PRODUCT),
         "building": (BUILDINGS, BUILDING), "team": (TEAMS, TEAM)}
TITLE = {"person": "{N}", "project": "Project {N}", "product": "the {N}", "building": "the {N} House", "team": "Team {N}"}
COMPANY = "Halvard"

# Second hop: a person reached through a relation of something else.
HOP = {"leader": "the leader of {N}", "designer": "the designer of {N}", "caretaker": "the caretaker of {N}", "lead": "the lead of {N}", "mentor": "the mentor of {N}"}

# What an answer says of its subject; behind "who" too.
TELLS = {
    "city": "works in {V}", "birth": "was born in {V}", "year": "joined in {V}", "university": "studied at the university of {V}",
    "language": "speaks {V}", "sport": "enjoys {V}", "drink": "drinks {V}", "instrument": "plays the {V}", "pet": "has a {V}",
    "desk": "sits at desk {V}", "birthday": "has a birthday in {V}", "food": "likes {V} best", "mentor": "reports to {V}",
    "leader": "is led by {V}", "tech": "is written in {V}", "month": "ships in {V}", "budget": "costs {V} thousand euros",
    "site": "runs in {V}", "customer": "was ordered by {V}", "people": "keeps {V} people busy", "review": "is reviewed every {V}",
    "designer": "was designed by {V}", "colour": "is sold in {V}", "material": "is made of {V}", "price": "costs {V} euros",
    "factory": "is built in {V}", "launch": "was launched in {V}", "warranty": "has a warranty of {V} months",
    "caretaker": "is looked after by {V}", "place": "stands in {V}", "built": "was opened in {V}", "rooms": "has {V} rooms",
    "canteen": "serves {V}", "walls": "is painted {V}", "garden": "has a garden full of {V}",
    "lead": "is led by {V}", "day": "meets every {V}", "room": "meets in room {V}", "members": "has {V} members", "home": "works from {V}",
    "game": "enjoys {V}", "shirt": "wears {V} shirts",
}

# Comparisons of two of a kind: (question, what is said of the one) for the smaller value and for the greater.
COMPARE = {
    "year": (("Who joined earlier, {A} or {B}?", "the first to join"), ("Who joined later, {A} or {B}?", "the last to join")),
    "launch": (("Which was launched earlier, {A} or {B}?", "the first to be launched"), ("Which was launched later, {A} or {B}?", "the last to be launched")),
    "built": (("Which was opened earlier, {A} or {B}?", "the first to be opened"), ("Which was opened later, {A} or {B}?", "the last to be opened")),
    "price": (("Which costs less, {A} or {B}?", "the one that costs less"), ("Which costs more, {A} or {B}?", "the one that costs more")),
    "budget": (("Which costs less, {A} or {B}?", "the one that costs less"), ("Which costs more, {A} or {B}?", "the one that costs more")),
    "rooms": (("Which has fewer rooms, {A} or {B}?", "the one with fewer rooms"), ("Which has more rooms, {A} or {B}?", "the one with more rooms")),
    "members": (("Which has fewer members, {A} or {B}?", "the one with fewer members"), ("Which has more members, {A} or {B}?", "the one with more members")),
}

# What has been added since the first sample library was drawn. It stands apart so that the draws of
# that library (and of the tokenizer's counts) stay what they were; `rich` documents use both.
MORE_SAYS = {
    "city": ["{S} has worked in {V} since spring.", "Letters reach {o} in the {V} office.", "{P} working days begin in {V}, with the first train."],
    "birth": ["{S} comes from {V}.", "{P} parents still live in {V}, where {s} was born.", "{S} was born and went to school in {V}."],
    "year": ["{S} came to the company in {V}.", "{S} has been with us since {V}.", "In {V} {s} joined, and never left."],
    "university": ["{S} spent four years at the university of {V}.", "{S} holds a degree from {V}.", "{S} went to {V} to study."],
    "language": ["Besides English {s} speaks {V}.", "{S} learned {V} as a child.", "Calls in {V} are put through to {o}."],
    "sport": ["On Sundays {s} can be found at {V}.", "{S} took up {V} as a student.", "Ask {o} about {V} if you have an hour."],
    "drink": ["There is always {V} on {p} desk.", "{S} cannot begin the day without {V}.", "Bring {o} {V} and {s} will be your friend."],
    "instrument": ["{S} learned the {V} from a neighbour.", "At the summer party {s} played the {V}.", "In the evening one hears {o} play the {V}."],
    "pet": ["{S} shares the house with a {V}.", "At home a {V} waits for {o}.", "{P} {V} is on all the photos."],
    "desk": ["{P} place is desk {V} by the window.", "If you look for {o}, go to desk {V}.", "{S} moved to desk {V} in the autumn."],
    "birthday": ["There is cake in {V}, when {p} birthday comes.", "{S} was born in {V}, as the flowers on {p} desk show."],
    "food": ["{S} never says no to {V}.", "In the canteen {s} takes {V} whenever it is there.", "{P} best dish is {V}, as everybody knows."],
    "mentor": ["In the first weeks {s} was helped by {V}.", "{S} learned the work from {V}.", "{P} mentor has been {V} from the beginning."],
    "leader": ["It is {V} who leads {o}.", "{S} is in the hands of {V}.", "The person who leads {o} is {V}."],
    "tech": ["{S} was begun in {V}, and stayed with it.", "All of {o} is written in {V}.", "New engineers need to know {V}."],
    "month": ["{S} is to be finished in {V}.", "Customers will have {o} in {V}.", "In {V} {s} must be ready."],
    "budget": ["The board gave {o} {V} thousand euros.", "{P} cost is put at {V} thousand euros."],
    "site": ["{S} is kept on machines in {V}.", "All of {p} data is stored in {V}.", "{P} home is a data centre in {V}."],
    "customer": ["{S} was made for {V}.", "The first who asked for {o} was {V}.", "It was {V} that ordered {o}."],
    "people": ["In all {V} people work on {o}.", "It takes {V} people to keep {o} going."],
    "review": ["Every {V} {s} is looked at by the board.", "On {V} the group meets to review {o}."],
    "designer": ["It was {V} who designed {o}.", "{S} began as a sketch by {V}.", "The first drawing of {o} is by {V}."],
    "colour": ["In the catalogue {s} is shown in {V}.", "{S} comes in {V}.", "Of all colours {V} was chosen for {o}."],
    "material": ["{P} parts are made of {V}.", "What one holds in the hand is {V}.", "The board chose {V} for {o}."],
    "price": ["{S} costs {V} euros.", "For {V} euros {s} is yours.", "In shops {s} is sold at {V} euros."],
    "factory": ["{S} comes from the factory in {V}.", "Workers in {V} put {o} together.", "{S} is made in {V}."],
    "launch": ["{S} has been sold since {V}.", "Customers first saw {o} in {V}.", "{S} was launched at the fair of {V}."],
    "warranty": ["For {V} months it is mended without cost.", "{P} warranty is good for {V} months."],
    "caretaker": ["It is {V} who looks after {o}.", "For a key to {o} one asks {V}.", "{P} doors are opened every morning by {V}."],
    "place": ["{S} can be found in {V}.", "{S} was built in {V}, not far from the station.", "Our people in {V} work in {o}."],
    "built": ["{S} has been open since {V}.", "The first people moved in in {V}.", "{S} was finished and opened in {V}."],
    "rooms": ["There are {V} rooms in {o}.", "One counts {V} rooms from the hall to the roof."],
    "canteen": ["At noon there is {V} in the canteen.", "{P} cook is known for {V}.", "Visitors come for the {V} in the canteen."],
    "walls": ["{S} was painted {V} last summer.", "{P} outside is {V}.", "From the street one sees its {V} walls."],
    "garden": ["In the garden grow {V}.", "Behind the house there are {V}.", "In spring the garden is all {V}."],
    "lead": ["It is {V} who leads {o}.", "Only {V} speaks for the group.", "The person who leads the group is {V}."],
    "day": ["{S} come together every {V}.", "Every {V} there is a meeting of the group.", "The day of {p} meeting is {V}."],
    "room": ["One finds {o} in room {V}.", "{P} door is the one of room {V}.", "{S} moved into room {V} in the spring."],
    "members": ["There are {V} people in the group.", "{S} are {V} people by now."],
    "home": ["{S} are at home in {V}.", "{P} desks stand in {V}.", "The group is based in {V}."],
    "game": ["Of all sports {s} like {V} best.", "{S} won a prize at {V} last year.", "In summer one finds {o} at {V}."],
    "shirt": ["At the summer party {s} came in {V} shirts.", "One knows {o} by {p} {V} shirts."],
}
MORE_ASKS = {
    "city": ["In which office does {N} work?", "In which city is the office of {N}?", "Where is the office of {N}?"],
    "birth": ["Where does {N} come from?", "Where is {N} from?", "Which city was {N} born in?"],
    "year": ["When did {N} come to the company?", "Since when has {N} been with the company?", "In what year did {N} join?"],
    "university": ["Where did {N} go to university?", "Where is the degree of {N} from?", "At what university was {N}?"],
    "language": ["Which second language does {N} speak?", "What does {N} speak besides English?"],
    "sport": ["What does {N} do after work?", "Which sport does {N} practise?", "What is the sport of {N}?"],
    "drink": ["What should I bring {N} to drink?", "What drink does {N} like best?"],
    "instrument": ["Which instrument did {N} learn?", "What instrument is {N} known for?"],
    "pet": ["What animal does {N} have?", "Does {N} have a pet, and which?", "Which animal lives with {N}?"],
    "desk": ["Where does {N} sit?", "What is the number of the desk of {N}?", "Which desk is the desk of {N}?"],
    "birthday": ["When was {N} born, in which month?", "When does {N} celebrate a birthday?", "What month is the birthday of {N} in?"],
    "food": ["What does {N} like to eat?", "What does {N} eat for lunch?", "What should I cook for {N}?"],
    "mentor": ["Who helped {N} in the first weeks?", "Whom does {N} report to?", "From whom did {N} learn the work?"],
    "leader": ["Who is in charge of {N}?", "Who is the head of {N}?"],
    "tech": ["What is the language of the code of {N}?", "Which language do the engineers of {N} use?"],
    "month": ["When will {N} be finished?", "When must {N} be ready?", "What is the deadline of {N}?"],
    "budget": ["How big is the budget of {N}?", "What does {N} cost?"],
    "site": ["Where is {N} kept?", "In which data centre does {N} run?", "Where is the data of {N}?"],
    "customer": ["For whom was {N} made?", "Who was the first to ask for {N}?"],
    "people": ["How many people does {N} keep busy?", "How many work on {N}?"],
    "review": ["When does the board look at {N}?", "What day is the review of {N} on?"],
    "designer": ["Who made the first drawing of {N}?", "Whose design is {N}?"],
    "colour": ["What is the colour of {N}?", "What colour does {N} come in?"],
    "material": ["Which material is {N} made of?", "What material was chosen for {N}?"],
    "price": ["What does {N} cost?", "For how much is {N} sold?"],
    "factory": ["Where is {N} made?", "Where does {N} come from?", "In which city is {N} made?"],
    "launch": ["Since when has {N} been sold?", "When did {N} come on the market?"],
    "warranty": ["What is the warranty of {N}?", "For how many months is {N} mended without cost?"],
    "caretaker": ["Who opens the doors of {N}?", "Whom do I ask for a key to {N}?"],
    "place": ["Where can {N} be found?", "Where do I find {N}?", "Which city is {N} in?"],
    "built": ["When did {N} open?", "Since when has {N} been open?", "When was {N} finished?"],
    "rooms": ["What is the number of rooms in {N}?", "How many rooms are there in {N}?"],
    "canteen": ["What can I eat in {N}?", "Which dish is the canteen of {N} known for?"],
    "walls": ["What colour is {N}?", "What is the colour of {N}?"],
    "garden": ["Which flowers grow in the garden of {N}?", "What can one see in the garden of {N}?"],
    "lead": ["Who is the head of {N}?", "Who speaks for {N}?"],
    "day": ["What day does {N} meet on?", "When are the meetings of {N}?"],
    "room": ["Where does {N} meet?", "What room is {N} in?"],
    "members": ["How big is {N}?", "What is the number of members of {N}?"],
    "home": ["Where is {N} based?", "Where is {N} at home?", "Which city does {N} work from?"],
    "game": ["What is the sport of {N}?", "Which sport does {N} enjoy?"],
    "shirt": ["What does {N} wear?", "What colour does {N} wear?"],
}
MORE_HOPS = {
    "leader": ["the person who leads {N}", "the head of {N}"], "designer": ["the person who designed {N}"],
    "caretaker": ["the person who looks after {N}"], "lead": ["the person who leads {N}", "the head of {N}"],
    "mentor": ["the person who trained {N}", "the person {N} reports to"],
}
MORE_INTRO = {
    "person": ["{N} has many friends in the house.", "Few people know the old stories of {C} as well as {N}.", "Who has not asked {N} for help?", "{N} keeps the accounts of {C} in order.",
               "Ask anybody on the first floor about {N}.", "{N} works with the designers of {C}."],
    "project": ["Much of the work of this year goes into {N}.", "{N} is the answer to an old question of our customers.", "Nobody thought that {N} would go so far.", "{C} put its best people on {N}."],
    "product": ["{N} is small, plain and built to last.", "It took three winters to get {N} right.", "There is hardly a house in town without {N}.", "Of all that {C} sells, {N} is the best liked."],
    "building": ["You will not miss {N}.", "Most of the staff of {C} have worked in {N} at some time.", "Everybody at {C} knows {N}.", "Of all our houses {N} is the most liked."],
    "team": ["Without {N} little would be finished at {C}.", "Whoever has a question about tools goes to {N}.", "{N} began with two people and a borrowed table.", "A few words about {N}."],
}
MORE_FILLER = [
    "People who were there still like to tell the story.", "It rained for most of that week.", "On the wall hangs a map with many pins in it.", "All this was long ago.",
    "The windows look out on the river, and in the evening one can see the boats come home.", "Nobody knows who first had the idea, and nobody wants to say.",
    "There are days when everything goes wrong, and this was not one of them.", "Good coffee and an open door have done more for the company than any plan.",
    "The last winter was long, and much of what is told here happened by the light of one lamp.", "Some say that the best ideas come on the stairs.",
    "A visitor once asked why the clock in the hall is five minutes late; it always was.", "The old bell is still rung when a ship with our goods comes in.",
    "It is said that the founder planted the tree in the yard on the day the first machine was sold.", "In the office there is a rule: whoever is late brings the cake.",
    "Guests are asked to write a line in the book beside the door before they leave.", "Between the meetings there is always time for a short walk to the river.",
    "More than once the lights were still on when the first bus came.", "When the snow came early that year, everybody helped to clear the yard.",
]
MORE_COMPARE = {
    "year": (("Who of {A} and {B} joined first?", "the first to join"), ("Who of {A} and {B} came later?", "the last to join")),
    "launch": (("Which is older, {A} or {B}?", "the first to be launched"), ("Which is newer, {A} or {B}?", "the last to be launched")),
    "built": (("Which is older, {A} or {B}?", "the first to be opened"), ("Which is newer, {A} or {B}?", "the last to be opened")),
    "price": (("Which is cheaper, {A} or {B}?", "the one that costs less"), ("For which does one pay more, {A} or {B}?", "the one that costs more")),
    "budget": (("Which has the smaller budget, {A} or {B}?", "the one that costs less"), ("Which has the bigger budget, {A} or {B}?", "the one that costs more")),
    "rooms": (("Which is smaller, {A} or {B}?", "the one with fewer rooms"), ("Which is bigger, {A} or {B}?", "the one with more rooms")),
    "members": (("Which is smaller, {A} or {B}?", "the one with fewer members"), ("Which is bigger, {A} or {B}?", "the one with more members")),
}
