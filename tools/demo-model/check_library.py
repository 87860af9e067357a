"""Ask a model the sample library's questions: python3 check_library.py MODEL.gguf [--others 3] [--all]

The context of a question: the chunks of its documents (of at most 96 tokens, cut as the app cuts them:
at paragraphs where that leaves a chunk half full, else at sentences) among those of other documents.
--all asks every fact of the library instead, in its first form: the honest figure. An answer counts as
right if the fact is in it.
"""
import argparse
import json
import os
import random
import re

import torch

import evaluate
import lexicon as lex
import make_library

LIBRARY = os.path.join(make_library.HERE, "../../resources/sample-library")
LIMIT = 96


def chunks_of(tok, text):
    """Token ids of the chunks of a document."""
    pieces = [(s, p > 0 and i == 0) for p, paragraph in enumerate(text.strip().split("\n\n"))
              for i, s in enumerate(re.split(r"(?<=[.!?])\s+", paragraph))]
    size = [len(tok.encode(" " + s)) for s, _ in pieces]
    out, start = [], 0
    ids = lambda a, b: tok.encode("".join(("" if i == a else "\n\n" if pieces[i][1] else " ") + pieces[i][0] for i in range(a, b)) + "\n\n")
    while start < len(pieces):
        end = start + 1
        while end < len(pieces) and len(ids(start, end + 1)) <= LIMIT:
            end += 1
        if end < len(pieces) and not pieces[end][1]:
            better = [e for e in range(start + 1, end) if pieces[e][1] and sum(size[start:e]) >= LIMIT / 2]
            end = better[-1] if better else end
        out.append(ids(start, end))
        start = end
    return out


def all_questions(docs, files):
    for d, f in zip(docs, files):
        for fact in d.facts:
            ask = lex.KINDS[d.entity.kind][1][fact.relation].asks[0]
            yield {"question": ask.format(N=d.entity.name), "answer": fact.value, "documents": [f], "kind": "one hop"}


def main():
    p = argparse.ArgumentParser()
    p.add_argument("model")
    p.add_argument("--others", type=int, default=3)
    p.add_argument("--all", action="store_true")
    p.add_argument("--modes", type=int, nargs="*", default=range(len(evaluate.MODES)), help="which of full, none, 5, 15, 30 %%")
    p.add_argument("--every", type=int, default=1, help="with --all: one question in so many")
    p.add_argument("--threads", type=int, default=2)
    args = p.parse_args()
    torch.set_num_threads(args.threads)
    net, tok = evaluate.load(args.model)
    library = make_library.entries()
    docs, files = [e.document for e in library], [e.file for e in library]
    chunks = {e.file: chunks_of(tok, "\n\n".join(["# " + e.document.title, *e.paragraphs])) for e in library}
    questions = list(all_questions(docs, files))[::args.every] if args.all else json.load(open(os.path.normpath(LIBRARY) + ".questions.json"))
    rng, right = random.Random(5), {evaluate.MODES[i][0]: 0 for i in args.modes}
    for q in questions:
        kind = q["documents"][0].split("/")[0] if q["documents"] else "people"
        others = rng.sample([f for f in files if f not in q["documents"] and f.split("/")[0] in (kind, "people")], args.others)
        order = q["documents"] + others
        rng.shuffle(order)
        blended = evaluate.contexts(net, [c for f in order for c in chunks[f]], [evaluate.MODES[i] for i in args.modes])
        got = evaluate.ask(net, tok, blended, q["question"])
        for name, text in got.items():
            right[name] += re.search(rf"\b{re.escape(q.get('key', q['answer']))}(?!\w)", text) is not None
        if not args.all:
            print(f"{q['question']} {q['answer']}:", "; ".join(f"{n}: {t}" for n, t in got.items()))
    print(f"{len(questions)} questions, {args.others} other documents:", ", ".join(f"{n} {r / len(questions):.3f}" for n, r in right.items()))


if __name__ == "__main__":
    main()
