"""Write the sample library: python3 make_library.py [FOLDER] [--rich]

A small company's handbook, drawn from the generator that the model is trained on, from a seed of its
own: no fact of it was seen in training. Beside the folder goes FOLDER.questions.json with questions
whose answers need several chunks of a document; check_library.py asks the model each of them.

Without --rich it is the library that ships, byte for byte, whose answers are single words. With it,
there are more documents, of all forms that the lexicon has, and questions of every kind with answers in
sentences, for a model that gives them.
"""
import json
import os
import random
import re
import shutil
import sys

import answers
import corpus
import lexicon as lex

HERE = os.path.dirname(os.path.abspath(__file__))
SEED = 20260
COUNTS = {"person": 26, "project": 8, "product": 7, "building": 6, "team": 5}
RICH_COUNTS = {"person": 30, "project": 10, "product": 9, "building": 8, "team": 7}
RICH_SEED = 20261
FOLDERS = {"person": "people", "project": "projects", "product": "products", "building": "buildings", "team": "teams"}
PLAIN = 6  # every how many documents one is a .txt file
SHORTEST = 560  # characters a document, so that each is longer than a chunk of 96 tokens
FIRST_CHUNK = 5  # the facts from this one on lie behind the first 96-token chunk


def documents(rich=False):
    rng, taken, counts = random.Random(RICH_SEED if rich else SEED), set(), RICH_COUNTS if rich else COUNTS
    people = [corpus.person(rng, taken) for _ in range(counts["person"])]
    things = [corpus.thing(rng, kind, taken) for kind, n in counts.items() if kind != "person" for _ in range(n)]
    out = []
    for e in people + things:
        relations = lex.KINDS[e.kind][1]
        hop = [r for r, rel in relations.items() if rel.values is lex.NAME]
        facts = corpus.choose_facts(rng, e, min(len(relations), rng.randint(8, 10)), people, hop, linked=1.0)
        d = None
        while d is None or sum(len(t) for s in d.sentences for t in s.pieces) < SHORTEST:
            d = corpus.write(rng, e, facts, rng.randint(4, 6), rich)
        out.append(d)
    return rng, out


def render(rng, document, heading):
    """Title and paragraphs of three to five sentences."""
    body, paragraphs = ["".join(s.pieces) for s in document.sentences], []
    while body:
        size = rng.randint(3, 5)
        if len(body) - size < 3:
            size = len(body)
        paragraphs.append(" ".join(body[:size]))
        body = body[size:]
    return heading + document.title + "\n\n" + "\n\n".join(paragraphs) + "\n"


def file_name(document, plain):
    words = re.sub(r"^the ", "", document.entity.name).lower().replace(" ", "-")
    return f"{FOLDERS[document.entity.kind]}/{words}.{'txt' if plain else 'md'}"


def ask(rng, docs, files):
    """Twelve questions: nine on a fact behind the first chunk, three of two hops."""
    index = {id(d.entity): i for i, d in enumerate(docs)}
    out, used = [], set()

    def add(i, relation, question, answer, kind, more=()):
        used.add(i)
        out.append({"question": question, "answer": answer, "documents": [files[i], *more], "kind": kind})

    for kind in ("person", "project", "person", "product", "person", "building", "person", "team", "person"):
        i = rng.choice([i for i, d in enumerate(docs) if d.entity.kind == kind and i not in used and late(d)])
        d = docs[i]
        f = d.facts[rng.choice(late(d))]
        add(i, f.relation, lex.KINDS[kind][1][f.relation].asks[0].format(N=d.entity.name), f.value, "one hop")
    for kind in ("project", "product", "team"):
        i = rng.choice([i for i, d in enumerate(docs) if d.entity.kind == kind and i not in used])
        d = docs[i]
        link = next(f for f in d.facts if f.target)
        k = index[id(link.target)]
        g = docs[k].facts[rng.choice(late(docs[k]))]
        via = lex.HOP[link.relation].format(N=d.entity.name)
        add(i, g.relation, lex.PERSON[g.relation].asks[0].format(N=via), g.value, "two hops", [files[k]])
    return out


def late(document):
    """The facts behind the first chunk, which the document gives under a pronoun only."""
    return [s.fact for s in document.sentences if s.fact >= 0][FIRST_CHUNK:]


def ask_rich(rng, docs, files):
    """Sixteen questions, no two about the same document: six of one hop, four of two (both behind first
    chunks), three comparisons, three that no document answers; of each kind no two of the same relation (of two
    hops: the first)."""
    pools = answers.world_questions(rng, docs, {(i, j) for i, d in enumerate(docs) for j in range(len(d.facts))}, strangers=1)
    index, used, out = {id(d.entity): i for i, d in enumerate(docs)}, set(), []
    first = lambda q: {docs[i].facts[j].relation for i, j in q.path[:1]}
    stranger = [q for q in pools["unanswerable"] if id(q.subject) not in index]
    known = [q for q in pools["unanswerable"] if id(q.subject) in index and not q.path]
    for pool, n in ((pools["one hop"], 6), (pools["two hops"], 4), (pools["comparison"], 3), (known, 2), (stranger, 1)):
        seen = set()
        for q in pool:
            own = {i for i, _ in q.path} | ({index[id(q.subject)]} if id(q.subject) in index else set())
            if n == 0 or own & used or first(q) & seen:
                continue
            if "hop" in q.kind and q.path[-1][1] not in late(docs[q.path[-1][0]]):
                continue
            n, used, seen = n - 1, used | own, seen | first(q)
            out.append({"question": q.text, "answer": q.answer, "key": q.key, "documents": [files[i] for i in sorted(own)], "kind": q.kind})
    return out


def main():
    rich = "--rich" in sys.argv
    paths = [a for a in sys.argv[1:] if a != "--rich"]
    folder = paths[0] if paths else os.path.join(HERE, "../../resources/sample-library")
    rng, docs = documents(rich)
    files = [file_name(d, i % PLAIN == PLAIN - 1) for i, d in enumerate(docs)]
    texts = [render(rng, d, "= " if f.endswith(".txt") else "# ") for d, f in zip(docs, files)]
    questions = (ask_rich if rich else ask)(rng, docs, files)
    for sub in FOLDERS.values():
        shutil.rmtree(os.path.join(folder, sub), ignore_errors=True)
        os.makedirs(os.path.join(folder, sub))
    for f, text in zip(files, texts):
        with open(os.path.join(folder, f), "w") as out:
            out.write(text)
    with open(os.path.normpath(folder) + ".questions.json", "w") as out:
        json.dump(questions, out, indent=2, ensure_ascii=False)
        out.write("\n")
    print(f"{len(docs)} documents, {sum(map(len, texts))} characters, {len(questions)} questions")


if __name__ == "__main__":
    main()
