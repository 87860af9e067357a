"""Accuracy by kind of question and length of context, for full recompute, full reuse and blending.

    python3 evaluate.py MODEL.gguf|CHECKPOINT.pt [--tokens 500 1000 2000] [--count 60] [--seed 77]

Every world is new: its facts are drawn and its names combined anew, from another seed than training's.
Documents are as long as the library's, in chunks of up to 96 tokens, some of them orphans. `exact` is
the whole sentence, `fact` that what was asked for is in it, both of greedy answers. One hop is told
apart by whether the fact's chunk names whom it is about (first) or only says She, He, It or They (later).
"""
import argparse
import collections
import json
import os
import random
import re

import torch

import answers
import batches
import blend
import corpus
import export_gguf
import model as M
from bpe import Tokenizer

MODES = [("full", None), ("none", 0), ("deviation 5 %", 0.05), ("deviation 15 %", 0.15), ("deviation 30 %", 0.3)]
KINDS = ["one hop, first", "one hop, later"] + answers.KINDS[1:]


def load(path, average=True):
    if path.endswith(".gguf"):
        return export_gguf.load(path)
    return M.load(path, average)[0], Tokenizer.load(os.path.join(export_gguf.HERE, "tokenizer.json"))


def contexts(net, chunks, modes=MODES, check=1):
    """-> {mode: (k, v) per layer}"""
    stored = blend.store(net, chunks)
    return {name: blend.blend(net, chunks, ratio, check, stored)[0] for name, ratio in modes}


def ask(net, tok, blended, question):
    """-> {mode: answer text}"""
    return {name: blend.answer(net, tok, kv, tok.encode(corpus.prompt(question))) for name, kv in blended.items()}


def right(text, asked):
    """-> whether the sentence is the reference, whether it has the fact"""
    return text == asked.answer, re.search(r"\b" + re.escape(asked.key) + r"(?!\w)", text) is not None


def world(rng, maker, tokens):
    """-> chunks of at most `tokens` tokens in all, {kind: [(answers.Asked, chance)]}; chance is a guess among
    the values that the passages give for the relation asked for."""
    one_kind = "person" if rng.random() < 0.2 else None
    docs = corpus.world(rng, round(tokens / 140) + 2, (6, 10), (2, 6), (5, 9), one_kind, rich=rng.random() < 0.5)
    for d in docs:
        batches.cut(rng, maker.tok, d)
    chunks, place, _ = maker.passages(rng, docs, tokens)
    values, out = collections.defaultdict(set), collections.defaultdict(list)
    for d, f in place:
        values[docs[d].facts[f].relation].add(docs[d].facts[f].value)
    for kind, pool in answers.world_questions(rng, docs, place.keys()).items():
        for q in pool:
            chance, name = {"comparison": 0.5, "unanswerable": 0.0}.get(kind), kind
            if chance is None:
                d, f = q.path[-1]
                chance = 1 / len(values[docs[d].facts[f].relation])
                if kind == "one hop":
                    name = KINDS[f not in [docs[d].sentences[i].fact for i in docs[d].chunks[0]]]
            if chance < 1:
                out[name].append((q, chance))
    return chunks, out


def main():
    p = argparse.ArgumentParser()
    p.add_argument("model")
    p.add_argument("--tokens", type=int, nargs="*", default=[500, 1000, 1950], help="of the contexts")
    p.add_argument("--count", type=int, default=60, help="questions of each kind and length")
    p.add_argument("--each", type=int, default=3, help="questions of a kind about one context")
    p.add_argument("--kinds", nargs="*", default=KINDS)
    p.add_argument("--seed", type=int, default=77)
    p.add_argument("--check", type=int, default=1)
    p.add_argument("--modes", type=int, nargs="*", default=[0, 1, 2, 3], help="which of full, none, 5, 15, 30 %%")
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--plain", action="store_true", help="a checkpoint's last weights, not their average")
    p.add_argument("--wrong", type=int, default=0, help="show so many wrong answers of each mode")
    p.add_argument("--json", help="write the figures there too")
    args = p.parse_args()
    torch.set_num_threads(args.threads)
    modes = [MODES[i] for i in args.modes]
    net, tok = load(args.model, not args.plain)
    maker, rows, shown = batches.Maker(tok), [], collections.Counter()
    print(f"{'tokens':>6s} {'question':18s}{'n':>4s}{'chance':>8s}" + "".join(f"{m + ' exact':>21s}{'fact':>7s}" for m, _ in modes))
    for tokens in args.tokens:
        rng, hits = random.Random(args.seed * 10007 + tokens), {k: [] for k in args.kinds}
        while any(len(h) < args.count for h in hits.values()):
            chunks, pools = world(rng, maker, tokens)
            asked = [(k, *q) for k in hits if len(hits[k]) < args.count for q in pools[k][:args.each]]
            if not asked:
                continue
            blended = contexts(net, chunks, modes, args.check)
            for kind, q, chance in asked:
                hit = {"chance": chance}
                for mode, text in ask(net, tok, blended, q.text).items():
                    hit[mode] = right(text, q)
                    if not hit[mode][0] and shown[mode] < args.wrong:
                        shown[mode] += 1
                        print(f"  {mode}: {q.text} {text} [{q.answer}]")
                hits[kind].append(hit)
        for kind, got in hits.items():
            got = got[:args.count]
            mean = {m: [sum(h[m][i] for h in got) / len(got) for i in (0, 1)] for m, _ in modes}
            chance = sum(h["chance"] for h in got) / len(got)
            print(f"{tokens:6d} {kind:18s}{len(got):4d}{chance:8.2f}" + "".join(f"{mean[m][0]:21.3f}{mean[m][1]:7.3f}" for m, _ in modes), flush=True)
            rows.append({"tokens": tokens, "kind": kind, "n": len(got), "chance": chance, **{m: {"exact": e, "fact": f} for m, (e, f) in mean.items()}})
    if args.json:
        with open(args.json, "w") as f:
            json.dump(rows, f, indent=1)


if __name__ == "__main__":
    main()
