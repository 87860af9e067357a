"""The sample world: documents whose facts hang on a pronoun, cut into chunks, with questions.

A document names its owner (a person, project, product, building or team) in its title and first
sentence; every later sentence says only She, He, It or They. A chunk cut from its middle therefore
does not tell whom it is about: only attention to an earlier chunk does.
"""
import random
from dataclasses import dataclass, field

import lexicon as lex

PRONOUNS = {  # S, s, o, P, p
    "she": ("She", "she", "her", "Her", "her"), "he": ("He", "he", "him", "His", "his"),
    "it": ("It", "it", "it", "Its", "its"), "they": ("They", "they", "them", "Their", "their")}


@dataclass
class Entity:
    kind: str
    name: str    # as it stands inside a sentence, "the Maple House"
    owner: str   # the one word that tells it from all others of its kind, "Maple"
    pronoun: str


@dataclass
class Fact:
    relation: str
    value: str
    target: Entity = None  # the entity whose name the value is, if it is one


@dataclass
class Sentence:
    pieces: list          # texts; the one at `slot` is the value with its leading space
    slot: int = -1
    fact: int = -1        # index into Document.facts


@dataclass
class Document:
    entity: Entity
    title: str
    sentences: list
    facts: list
    chunks: list = field(default_factory=list)  # lists of sentence indices; the title belongs to the first
    joints: list = field(default_factory=list)  # what stands before each sentence that does not open a chunk


@dataclass
class Question:
    text: str
    answer: str
    kind: str    # the relation asked for
    path: list   # [(document index, fact index)], one entry a hop; the last holds the answer


def capital(text):
    return text[0].upper() + text[1:]


def person(rng, taken):
    woman = rng.random() < 0.5
    while True:
        first, last = rng.choice(lex.WOMEN if woman else lex.MEN), rng.choice(lex.SURNAMES)
        if first not in taken and last not in taken:
            taken |= {first, last}
            return Entity("person", f"{first} {last}", last, "she" if woman else "he")


def thing(rng, kind, taken):
    while True:
        word = rng.choice(lex.KINDS[kind][0])
        if word not in taken:
            taken.add(word)
            return Entity(kind, lex.TITLE[kind].format(N=word), word, "they" if kind == "team" else "it")


def fill(template, entity, value=None):
    """The template's pieces: text before the value, the value with its space, text after it."""
    keys = dict(zip("SsoPp", PRONOUNS[entity.pronoun]))
    before, mark, after = template.partition(" {V}")
    pieces = [before.format(**keys)]
    return pieces + [" " + value, after.format(**keys)] if mark else pieces


def write(rng, entity, facts, fillers=0, rich=False):
    """The document that states `facts` about `entity` in a random order of sentence forms. rich: of all
    forms, not only of those that the first library was drawn from."""
    more = lambda pool, key: pool[key] if rich else []
    relations = lex.KINDS[entity.kind][1]
    title = capital(entity.name)
    intro = rng.choice(lex.INTRO[entity.kind] + more(lex.MORE_INTRO, entity.kind)).format(N=entity.name, C=lex.COMPANY)
    body = [Sentence(fill(rng.choice(relations[f.relation].says + more(lex.MORE_SAYS, f.relation)), entity, f.value), 1, i) for i, f in enumerate(facts)]
    for text in rng.sample(lex.FILLER + lex.MORE_FILLER if rich else lex.FILLER, fillers):
        body.insert(rng.randint(0, len(body)), Sentence([text]))
    return Document(entity, title, [Sentence([capital(intro)])] + body, facts)


def choose_facts(rng, entity, count, people, must=(), linked=0.75):
    relations = lex.KINDS[entity.kind][1]
    names = list(must) + rng.sample([r for r in relations if r not in must], max(0, min(count, len(relations)) - len(must)))
    rng.shuffle(names)
    facts = []
    for name in names:
        values = relations[name].values
        if values is lex.NAME:
            known = [p for p in people if p is not entity]
            target = rng.choice(known) if known and rng.random() < linked else person(rng, {w for p in people for w in p.name.split()})
            facts.append(Fact(name, target.name, target))
        else:
            facts.append(Fact(name, rng.choice(values)))
    return facts


def cut(rng, document, sizes):
    """Chunks of `sizes[0]` to `sizes[1]` sentences each; one paragraph, several or one sentence a line."""
    layout = rng.choice(["flow", "flow", "paragraphs", "paragraphs", "lines"])
    paragraph = rng.uniform(0.15, 0.4)
    document.joints = [{"flow": " ", "lines": rng.choice(["\n", "\n\n"])}.get(layout) or ("\n\n" if rng.random() < paragraph else " ")
                       for _ in document.sentences]
    document.chunks, i, n = [], 0, len(document.sentences)
    while i < n:
        size = rng.randint(*sizes)
        document.chunks.append(list(range(i, min(n, i + size))))
        i += size


def world(rng, count, facts=(3, 6), fillers=(0, 2), sizes=(1, 4), one_kind=None, linked=True, rich=False):
    """`count` documents in the order of the context, each cut into chunks."""
    taken, kinds = set(), []
    for _ in range(count):
        kinds.append(one_kind or ("person" if rng.random() < 0.5 else rng.choice(["project", "product", "building", "team"])))
    people = [person(rng, taken) for k in kinds if k == "person"]
    entities = people + [thing(rng, k, taken) for k in kinds if k != "person"]
    documents = []
    for e in entities:
        hop = [r for r, rel in lex.KINDS[e.kind][1].items() if rel.values is lex.NAME]
        must = hop if linked and rng.random() < 0.6 else []
        documents.append(write(rng, e, choose_facts(rng, e, rng.randint(*facts), people, must), rng.randint(*fillers), rich))
    rng.shuffle(documents)
    for d in documents:
        cut(rng, d, sizes)
    return documents


def questions(rng, documents):
    """Every question the documents can answer, shuffled: (one-hop list, two-hop list)."""
    single, double = [], []
    index = {id(d.entity): i for i, d in enumerate(documents)}
    for i, d in enumerate(documents):
        relations = lex.KINDS[d.entity.kind][1]
        for j, f in enumerate(d.facts):
            ask = rng.choice(relations[f.relation].asks)
            single.append(Question(ask.format(N=d.entity.name), f.value, f.relation, [(i, j)]))
            k = index.get(id(f.target)) if f.target else None
            if k is None:
                continue
            via = lex.HOP[f.relation].format(N=d.entity.name)
            for m, g in enumerate(documents[k].facts):
                ask = rng.choice(lex.PERSON[g.relation].asks)
                double.append(Question(ask.format(N=via), g.value, g.relation, [(i, j), (k, m)]))
    rng.shuffle(single)
    rng.shuffle(double)
    return single, double


def chunk_pieces(document, chunk, heading="# ", marks=False):
    """A chunk as text pieces; with `marks`, as (piece, fact index or -1)."""
    out = []
    if chunk[0] == 0:
        out += [(heading + document.title, -1), ("\n", -1), ("\n", -1)]
    for n, i in enumerate(chunk):
        s = document.sentences[i]
        for k, text in enumerate(s.pieces):
            if k == 0 and n:
                if document.joints[i] == " ":
                    text = " " + text
                else:
                    out += [(c, -1) for c in document.joints[i]]
            if text:
                out.append((text, s.fact if k == s.slot else -1))
    out.append(("\n\n", -1))
    return out if marks else [t for t, _ in out]


def chunk_text(document, chunk, heading="# "):
    return "".join(chunk_pieces(document, chunk, heading))


def prompt(question):
    return f"Question: {question}\nAnswer:"


if __name__ == "__main__":
    rng = random.Random(3)
    docs = world(rng, 4)
    for d in docs:
        for c in d.chunks:
            print(chunk_text(d, c), end="")
    one, two = questions(rng, docs)
    for q in one[:8] + two[:4]:
        print(prompt(q.text), q.answer)
