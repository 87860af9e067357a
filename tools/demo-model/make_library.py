"""Write the sample library: python3 make_library.py [FOLDER]

A small company's handbook, drawn from the generator that the model is trained on, from a seed of its
own: no fact of it was seen in training. Beside the folder goes FOLDER.questions.json with questions
whose answers need several chunks of a document; check_library.py asks the model each of them.
"""
import json
import os
import random
import re
import shutil
import sys

import corpus
import lexicon as lex

HERE = os.path.dirname(os.path.abspath(__file__))
SEED = 20260
COUNTS = {"person": 26, "project": 8, "product": 7, "building": 6, "team": 5}
FOLDERS = {"person": "people", "project": "projects", "product": "products", "building": "buildings", "team": "teams"}
PLAIN = 6  # every how many documents one is a .txt file
SHORTEST = 560  # characters a document, so that each is longer than a chunk of 96 tokens
FIRST_CHUNK = 5  # the facts from this one on lie behind the first 96-token chunk


def documents():
    rng, taken = random.Random(SEED), set()
    people = [corpus.person(rng, taken) for _ in range(COUNTS["person"])]
    things = [corpus.thing(rng, kind, taken) for kind, n in COUNTS.items() if kind != "person" for _ in range(n)]
    out = []
    for e in people + things:
        relations = lex.KINDS[e.kind][1]
        hop = [r for r, rel in relations.items() if rel.values is lex.NAME]
        facts = corpus.choose_facts(rng, e, min(len(relations), rng.randint(8, 10)), people, hop, linked=1.0)
        d = None
        while d is None or sum(len(t) for s in d.sentences for t in s.pieces) < SHORTEST:
            d = corpus.write(rng, e, facts, rng.randint(4, 6))
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

    def late(d):
        order = [s.fact for s in d.sentences if s.fact >= 0]
        return order[FIRST_CHUNK:]

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


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "../../resources/sample-library")
    rng, docs = documents()
    files = [file_name(d, i % PLAIN == PLAIN - 1) for i, d in enumerate(docs)]
    texts = [render(rng, d, "= " if f.endswith(".txt") else "# ") for d, f in zip(docs, files)]
    questions = ask(rng, docs, files)
    for sub in FOLDERS.values():
        shutil.rmtree(os.path.join(folder, sub), ignore_errors=True)
        os.makedirs(os.path.join(folder, sub))
    for f, text in zip(files, texts):
        with open(os.path.join(folder, f), "w") as out:
            out.write(text)
    with open(os.path.normpath(folder) + ".questions.json", "w") as out:
        json.dump(questions, out, indent=2)
        out.write("\n")
    print(f"{len(docs)} documents, {sum(map(len, texts))} characters, {len(questions)} questions")


if __name__ == "__main__":
    main()
