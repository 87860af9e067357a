"""Held-out worlds with questions of every kind, for `npm run bench:quality`.

    python3 make_questions.py [OUT.json] [--worlds 45] [--tokens 1500] [--seed 2024]

Each world is a context of passages as the app cuts them. A question says which passages state what its answer needs: with
those, a bench can leave others out. Kinds: one hop in the chunk that has the name (first) or in one that only says She, He,
It or They (later: a pronoun across chunks), two hops, comparison, unanswerable.
"""
import argparse
import json
import os
import random

import answers
import batches
import corpus
import evaluate
import export_gguf
from bpe import Tokenizer

EACH = {"one hop, first": 1, "one hop, later": 1, "two hops": 1, "comparison": 1, "unanswerable": 1}


def passage_of(chunks, at):
    """The index of the chunk that holds position `at` behind BOS."""
    for i, chunk in enumerate(chunks):
        at -= len(chunk)
        if at < 1:
            return i
    raise ValueError("beyond the last chunk")


def world(rng, maker, tokens):
    docs = corpus.world(rng, round(tokens / 140) + 2, (6, 10), (2, 6), (5, 9), None, rich=True)
    for d in docs:
        batches.cut(rng, maker.tok, d)
    chunks, place, _ = maker.passages(rng, docs, tokens)
    pools, asked = answers.world_questions(rng, docs, place.keys()), []
    later = lambda q: q.path[0][1] not in [docs[q.path[0][0]].sentences[i].fact for i in docs[q.path[0][0]].chunks[0]]
    named = {**pools, "one hop, first": [q for q in pools["one hop"] if not later(q)],
             "one hop, later": [q for q in pools["one hop"] if later(q)]}
    for kind, count in EACH.items():
        if len(named[kind]) < count:
            return None
        for q in named[kind][:count]:
            needs = {passage_of(chunks, place[p][0]) for p in q.path}
            # A later chunk does not say whom it is about: the ones before it of the same document do.
            for d, _ in q.path:
                own = [passage_of(chunks, at) for (i, _), (at, _) in place.items() if i == d]
                needs |= set(range(min(own), max(n for n in own if n in needs) + 1))
            asked.append({"kind": kind, "question": q.text, "answers": [q.answer], "fact": q.key,
                          "needs": sorted(needs)})
    return {"passages": [maker.tok.decode(c) for c in chunks], "questions": asked}


def main():
    p = argparse.ArgumentParser()
    p.add_argument("out", nargs="?", default=os.path.join(export_gguf.HERE, "..", "..", "bench", "quality", "sets", "worlds.json"))
    p.add_argument("--worlds", type=int, default=45)
    p.add_argument("--tokens", type=int, default=1500)
    p.add_argument("--seed", type=int, default=2024)
    args = p.parse_args()
    rng, worlds = random.Random(args.seed), []
    maker = batches.Maker(Tokenizer.load(os.path.join(export_gguf.HERE, "tokenizer.json")))
    while len(worlds) < args.worlds:
        made = world(rng, maker, args.tokens)
        if made:
            worlds.append(made)
    os.makedirs(os.path.dirname(args.out), exist_ok=True)
    with open(args.out, "w") as f:
        json.dump(worlds, f, indent=1)
        f.write("\n")


if __name__ == "__main__":
    main()
