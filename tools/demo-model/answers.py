"""Questions about a world and their answers in whole sentences.

An answer names its subject again and then the fact: "Elsa Wexler was born in Krakow." Of two hops it
names the person in between: "Team Stork is led by Ida Falk, who likes fencing." So each fact stands
right behind the name it hangs on, and a small model finds it hop by hop. A comparison gives both
values before it judges. What no passage states is answered by UNKNOWN, or where the first hop is there:
"Team Stork is led by Ida Falk, but the passages do not say."
"""
import itertools
from dataclasses import dataclass

import corpus
import lexicon as lex

UNKNOWN = "The passages do not say."
KINDS = ["one hop", "two hops", "comparison", "unanswerable"]


@dataclass
class Step:
    """Part of an answer: text with its leading space; if it is a value, where it stands and whose it is."""
    text: str
    place: tuple = None   # (document, fact)
    owner: object = None  # corpus.Entity


@dataclass
class Asked:
    text: str      # the question
    kind: str      # of KINDS
    steps: list    # of the answer
    key: str       # what must stand in an answer that is right
    subject: object  # the entity that the question names (the first of two)
    path: list     # [(document, fact)] a hop or side each
    winner: object = None  # of a comparison

    @property
    def answer(self):
        return "".join(s.text for s in self.steps)[1:]


def tell(fact, place, owner, lead):
    """`lead` and the predicate with its value, without the full stop"""
    before, _, after = lex.TELLS[fact.relation].partition(" {V}")
    return [Step(f"{lead} {before}"), Step(" " + fact.value, place, owner), Step(after)]


def name(entity):
    return " " + corpus.capital(entity.name)


def unknown(text, subject):
    return Asked(text, "unanswerable", [Step(" " + UNKNOWN)], UNKNOWN, subject, [])


def via(rng, relation, entity):
    return rng.choice([lex.HOP[relation]] + lex.MORE_HOPS[relation]).format(N=entity.name)


def ask(rng, relations, relation, subject):
    return rng.choice(relations[relation].asks + lex.MORE_ASKS[relation]).format(N=subject)


def world_questions(rng, documents, known, strangers=4):
    """Every kind of question about `documents`, shuffled: {kind: [Asked]}. known: the (document, fact)
    pairs that the passages state; documents none of whose facts is known are as good as absent."""
    out = {k: [] for k in KINDS}
    present = {d for d, _ in known}
    index = {id(documents[i].entity): i for i in present}
    taken = {w for d in documents for w in d.entity.name.split()} | {w for d in documents for f in d.facts for w in f.value.split()}
    for i, d in enumerate(documents):
        e, relations = d.entity, lex.KINDS[d.entity.kind][1]
        stated = {f.relation: j for j, f in enumerate(d.facts) if (i, j) in known}
        for r in relations:
            if r not in stated:
                out["unanswerable"].append(unknown(ask(rng, relations, r, e.name), e))
        if i not in present:
            continue
        for r, j in stated.items():
            f = d.facts[j]
            first = tell(f, (i, j), e, name(e))
            out["one hop"].append(Asked(ask(rng, relations, r, e.name), "one hop", first + [Step(".")], f.value, e, [(i, j)]))
            if r not in lex.HOP:
                continue
            k = index.get(id(f.target))
            theirs = {g.relation: m for m, g in enumerate(documents[k].facts) if (k, m) in known} if k is not None else {}
            for s in lex.PERSON:
                text = ask(rng, lex.PERSON, s, via(rng, r, e))
                if s in theirs:
                    m = theirs[s]
                    g = documents[k].facts[m]
                    steps = first[:-1] + [Step(first[-1].text + ",")] + tell(g, (k, m), documents[k].entity, " who") + [Step(".")]
                    out["two hops"].append(Asked(text, "two hops", steps, g.value, e, [(i, j), (k, m)]))
                elif rng.random() < 0.25:
                    steps = first[:-1] + [Step(first[-1].text + ", but the passages do not say.")]
                    out["unanswerable"].append(Asked(text, "unanswerable", steps, "the passages do not say", e, [(i, j)]))
        for r in relations:
            if r in lex.HOP and r not in stated and rng.random() < 0.5:
                s = rng.choice(list(lex.PERSON))
                out["unanswerable"].append(unknown(ask(rng, lex.PERSON, s, via(rng, r, e)), e))
    for _ in range(strangers):
        kind = rng.choice(list(lex.KINDS))
        e = corpus.person(rng, set(taken)) if kind == "person" else corpus.thing(rng, kind, set(taken))
        out["unanswerable"].append(unknown(ask(rng, lex.KINDS[kind][1], rng.choice(list(lex.KINDS[kind][1])), e.name), e))
    out["comparison"] = comparisons(rng, documents, known)
    for asked in out.values():
        rng.shuffle(asked)
    return out


def comparisons(rng, documents, known):
    out = []
    for relation, (less, more) in lex.COMPARE.items():
        sides = [(i, j) for i, j in known if documents[i].facts[j].relation == relation]
        rng.shuffle(sides)
        for a, b in itertools.permutations(sides[:4], 2):
            (da, fa), (db, fb) = ((documents[i], documents[i].facts[j]) for i, j in (a, b))
            if fa.value == fb.value:
                continue
            question, verdict = rng.choice([less, more, *lex.MORE_COMPARE[relation]])
            first = (int(fa.value) < int(fb.value)) == (verdict == less[1])
            winner = da if first else db
            steps = tell(fa, a, da.entity, name(da.entity)) + tell(fb, b, db.entity, " and " + db.entity.name)
            result = f"{verdict} is {winner.entity.name}"
            steps += [Step(f", and {result}.")]
            out.append(Asked(question.format(A=da.entity.name, B=db.entity.name), "comparison", steps, result, da.entity, [a, b], winner.entity))
    return out
