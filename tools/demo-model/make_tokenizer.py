"""Train the tokenizer: python3 make_tokenizer.py OUT.json

Counts come from the corpus; every name and value is counted often enough to become one token, both
after a space and at the start of a line.
"""
import collections
import random
import sys

import bpe
import corpus
import lexicon as lex

SIZE = 4096   # at most; the corpus needs fewer
MULTIPLE = 32  # of the vocabulary's size, filled with tokens that no text contains

COMMON = """where what who which when how why name keep tell me about please know whose phone date time week today much many give find
show list all any other between more most than same also both only very new old good long short number value answer question
document page person people woman man city country house team project product company office"""


def main(path):
    rng, counts = random.Random(7), collections.Counter()
    for _ in range(1500):
        docs = corpus.world(rng, 4)
        text = "".join(corpus.chunk_text(d, c) for d in docs for c in d.chunks)
        one, two = corpus.questions(rng, docs)
        text += "".join(corpus.prompt(q.text) + " " + q.answer + "\n\n" for q in one + two)
        counts.update(bpe.PRE_SPLIT.findall(text))
    for name, pool in vars(lex).items():
        if name.isupper() and isinstance(pool, list) and pool not in (lex.FILLER, lex.MORE_FILLER):
            for word in pool:
                counts[" " + word] += 2000
                if word in lex.WOMEN or word in lex.MEN:
                    counts[word] += 500
    for filler in lex.FILLER:
        counts.update({w: 300 for w in bpe.PRE_SPLIT.findall(filler)})
    counts.update({" " + w: 300 for w in COMMON.split()})
    tokens, merges = bpe.train(counts, SIZE)
    tokens += [f"<|unused{i}|>" for i in range(-len(tokens) % MULTIPLE)]
    tok = bpe.Tokenizer(tokens, merges)
    tok.save(path)
    split = [w for w in counts if len(tok.encode(w)) > 1]
    print(f"{len(tokens)} tokens, {len(merges)} merges; words of more than one token: {split}")


if __name__ == "__main__":
    main(sys.argv[1])
