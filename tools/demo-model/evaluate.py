"""Accuracy by kind of question and number of documents, for full recompute, full reuse and blending.

    python3 evaluate.py MODEL.gguf [--count 120] [--seed 77] [--long]

Exact match of greedy answers. Only questions are asked for whose relation at least two values stand in
the context; `chance` is a guess among them. Every world is new: its names combined and its facts drawn anew from another seed than training's.
"""
import argparse
import collections
import random

import torch

import blend
import corpus
import export_gguf

MODES = [("full", None), ("none", 0), ("deviation 5 %", 0.05), ("deviation 15 %", 0.15), ("deviation 30 %", 0.3)]


def chunks_of(tok, documents):
    return [tok.encode(corpus.chunk_text(d, c)) for d in documents for c in d.chunks]


def values_in(documents, relation):
    return {f.value for d in documents for f in d.facts if f.relation == relation}


def ask(net, tok, chunks, question, modes=MODES, check=1, stored=None):
    """-> {mode: answer text}"""
    stored = stored or blend.store(net, chunks)
    suffix, out = tok.encode(corpus.prompt(question)), {}
    for name, ratio in modes:
        kv, x, _ = blend.blend(net, chunks, suffix, ratio, check, stored)
        out[name] = blend.answer(net, tok, kv, x)
    return out


def world(rng, count, long, one_kind=None):
    """Documents as the library has them (long) or as short as most in training."""
    shape = dict(facts=(5, 8), fillers=(2, 5), sizes=(5, 7)) if long else dict(facts=(3, 6), fillers=(0, 1), sizes=(1, 4))
    return corpus.world(rng, count, one_kind=one_kind, **shape)


def table(title, rows, modes):
    print(f"\n{title:34s}{'n':>5s}{'tokens':>8s}{'chance':>8s}" + "".join(f"{m:>16s}" for m, _ in modes))
    for name, hits in rows.items():
        n = len(hits)
        mean = lambda k: sum(h[k] for h in hits) / n
        print(f"{name:34s}{n:5d}{mean('tokens'):8.0f}{mean('chance'):8.2f}" + "".join(f"{mean(m):16.3f}" for m, _ in modes))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("model")
    p.add_argument("--count", type=int, default=120, help="questions of each kind and number of documents")
    p.add_argument("--seed", type=int, default=77)
    p.add_argument("--long", action="store_true", help="documents and chunks of the library's size")
    p.add_argument("--check", type=int, default=1)
    p.add_argument("--modes", type=int, nargs="*", default=range(len(MODES)), help="which of full, none, 5, 15, 30 %%")
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--documents", type=int, nargs="*", default=[2, 4, 6])
    args = p.parse_args()
    torch.set_num_threads(args.threads)
    modes = [MODES[i] for i in args.modes]
    net, tok = export_gguf.load(args.model)
    rng = random.Random(args.seed)
    by_kind, by_relation = collections.OrderedDict(), collections.defaultdict(list)
    for count in args.documents:
        for kind in ("one hop", "one hop, all people", "two hops"):
            hits = by_kind[f"{kind}, {count} documents"] = []
            while len(hits) < args.count:
                docs = world(rng, count, args.long, "person" if "people" in kind else None)
                chunks = chunks_of(tok, docs)
                single, double = corpus.questions(rng, docs)
                stored = blend.store(net, chunks)
                asked = double if kind == "two hops" else single
                for q in [q for q in asked if len(values_in(docs, q.kind)) > 1][:3]:
                    got = ask(net, tok, chunks, q.text, modes, args.check, stored)
                    hit = {m: float(a == q.answer) for m, a in got.items()}
                    hit["chance"] = 1 / len(values_in(docs, q.kind))
                    hit["tokens"] = sum(map(len, chunks))
                    hits.append(hit)
                    if len(q.path) == 1:
                        by_relation[docs[q.path[0][0]].entity.kind + ": " + q.kind].append(hit)
    table("question", by_kind, modes)
    table("one hop, by relation", dict(sorted(by_relation.items())), modes)


if __name__ == "__main__":
    main()
