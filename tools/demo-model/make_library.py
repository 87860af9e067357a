"""Write the sample library: python3 make_library.py [FOLDER]

A small company's handbook, drawn from the generator that the model is trained on, from seeds of its own: no
fact of it was seen in training. Most documents are Markdown, some plain text, HTML, DOCX and PDF. Beside the
folder goes FOLDER.questions.json (and more of them to bench/quality/sets/library.json): questions of every kind, whose answers mostly stand behind the first chunk of
a document; check_library.py asks the model each of them.
"""
import json
import os
import random
import re
import shutil
import sys
from dataclasses import dataclass

import answers
import corpus
import formats
import lexicon as lex

HERE = os.path.dirname(os.path.abspath(__file__))
SEED = 20260
COUNTS = {"person": 26, "project": 8, "product": 7, "building": 6, "team": 5}
MORE_SEED = 20261
MORE = {"person": 4, "project": 3, "product": 3, "building": 2, "team": 2}  # in MORE_FORMATS, in turn
MANY = {"one hop": 120, "two hops": 40, "comparison": 20, "unanswerable": 20}
MORE_FORMATS = ("html", "docx", "pdf")
FOLDERS = {"person": "people", "project": "projects", "product": "products", "building": "buildings", "team": "teams"}
SET = os.path.join(HERE, "../../bench/quality/sets/library.json")
PLAIN = 6  # every how many documents one is a .txt file
SHORTEST = 560  # characters a document, so that each is longer than a chunk of 96 tokens
FIRST_CHUNK = 5  # the facts from this one on lie behind the first 96-token chunk


@dataclass
class Entry:
    document: corpus.Document
    file: str         # in its folder
    paragraphs: list  # of three to five sentences


def entries():
    """The library, the same at each call."""
    taken, out = set(), []
    for seed, counts, rich in ((SEED, COUNTS, False), (MORE_SEED, MORE, True)):
        rng = random.Random(seed)
        people = [corpus.person(rng, taken) for _ in range(counts["person"])]
        things = [corpus.thing(rng, kind, taken) for kind, n in counts.items() if kind != "person" for _ in range(n)]
        known = people + [e.document.entity for e in out if e.document.entity.kind == "person"]
        for i, d in enumerate([document(rng, e, known, rich) for e in people + things]):
            ending = MORE_FORMATS[i % len(MORE_FORMATS)] if rich else "txt" if i % PLAIN == PLAIN - 1 else "md"
            out.append(Entry(d, file_name(d, ending), []))
        for e in out[-sum(counts.values()):]:
            e.paragraphs = paragraphs(rng, e.document)
    return out


def document(rng, e, people, rich):
    relations = lex.KINDS[e.kind][1]
    hop = [r for r, rel in relations.items() if rel.values is lex.NAME]
    facts = corpus.choose_facts(rng, e, min(len(relations), rng.randint(8, 10)), people, hop, linked=1.0)
    while True:
        d = corpus.write(rng, e, facts, rng.randint(4, 6), rich)
        if sum(len(t) for s in d.sentences for t in s.pieces) >= SHORTEST:
            return d


def paragraphs(rng, document):
    """Its sentences, three to five together."""
    body, out = ["".join(s.pieces) for s in document.sentences], []
    while body:
        size = rng.randint(3, 5)
        if len(body) - size < 3:
            size = len(body)
        out.append(" ".join(body[:size]))
        body = body[size:]
    return out


def file_name(document, ending):
    words = re.sub(r"^the ", "", document.entity.name).lower().replace(" ", "-")
    return f"{FOLDERS[document.entity.kind]}/{words}.{ending}"


def many(rng, docs):
    """More questions than the sixteen, for bench:quality: {kind: …, question: …, answer: …, key: …}, of each kind at most so many."""
    pools = answers.world_questions(rng, docs, {(i, j) for i, d in enumerate(docs) for j in range(len(d.facts))}, strangers=8)
    out = [{"kind": kind, "question": q.text, "answer": q.answer, "key": q.key}
           for kind, n in MANY.items() for q in rng.sample(pools[kind], min(n, len(pools[kind])))]
    rng.shuffle(out)
    return out


def late(document):
    """The facts behind the first chunk, which the document gives under a pronoun only."""
    return [s.fact for s in document.sentences if s.fact >= 0][FIRST_CHUNK:]


def ask(rng, docs, files):
    """Sixteen questions, no two about the same document: six of one hop, four of two (both behind first
    chunks), three comparisons, three that no document answers; of each kind no two of the same relation (of two
    hops: the first). Some need a document of MORE_FORMATS."""
    pools = answers.world_questions(rng, docs, {(i, j) for i, d in enumerate(docs) for j in range(len(d.facts))}, strangers=1)
    index, used, out = {id(d.entity): i for i, d in enumerate(docs)}, set(), []
    first = lambda q: {docs[i].facts[j].relation for i, j in q.path[:1]}
    of = lambda q: {i for i, _ in q.path} | ({index[id(q.subject)]} if id(q.subject) in index else set())
    other = lambda q: any(files[i].endswith(MORE_FORMATS) for i in of(q))
    stranger = [q for q in pools["unanswerable"] if id(q.subject) not in index]
    known = [q for q in pools["unanswerable"] if id(q.subject) in index and not q.path]
    for pool, n in ((pools["one hop"], 6), (pools["two hops"], 4), (pools["comparison"], 3), (known, 2), (stranger, 1)):
        seen, wanted = set(), n // 3
        for q in [q for q in pool if other(q)] + pool:
            own = of(q)
            if n == 0 or own & used or first(q) & seen or (other(q) and wanted == 0):
                continue
            if "hop" in q.kind and q.path[-1][1] not in late(docs[q.path[-1][0]]):
                continue
            n, wanted, used, seen = n - 1, wanted - other(q), used | own, seen | first(q)
            out.append({"question": q.text, "answer": q.answer, "key": q.key, "documents": [files[i] for i in sorted(own)], "kind": q.kind})
    return out


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "../../resources/sample-library")
    library = entries()
    for sub in FOLDERS.values():
        shutil.rmtree(os.path.join(folder, sub), ignore_errors=True)
        os.makedirs(os.path.join(folder, sub))
    for e in library:
        formats.write(os.path.join(folder, e.file), e.document.title, e.paragraphs)
    with open(SET, "w") as out:
        json.dump(many(random.Random(SEED), [e.document for e in library]), out, indent=2, ensure_ascii=False)
        out.write("\n")
    questions = ask(random.Random(SEED), [e.document for e in library], [e.file for e in library])
    with open(os.path.normpath(folder) + ".questions.json", "w") as out:
        json.dump(questions, out, indent=2, ensure_ascii=False)
        out.write("\n")
    print(f"{len(library)} documents, {len(questions)} questions")


if __name__ == "__main__":
    main()
