"""Strings with their token ids, to be held against libllama: python3 make_fixture.py > tokenizer-fixture.json"""
import json
import os

from bpe import Tokenizer

TEXTS = [
    "Hello world", " leading space", "two  spaces", "three   spaces here", "trailing space ", "", " ", "  ", "\n", "\n\n", " \n", "\n ", "\t", "\r\n",
    "\n\nShe", "end.\n\n", "a\n\n\nb", "tab\tseparated\tvalues", "Question: Who leads Project Falcon?\nAnswer:", " Oslo", "Oslo",
    "# Ada Dahl\n\nAda Dahl is an engineer at Halvard. She works in the Oslo office.\n\n",
    "don't they're we've I'm you'll he'd it's DON'T", "it\u2019s a \u201cquote\u201d \u2014 dash\u2026", "1234567890", "3.14159, -42, 1e9, 50%", "year 2024 room 101", "abc123def",
    "x=y+z; if (a[i] != b) { return *p++; }", "C:\\path\\file.txt /usr/bin/env", "user@example.org https://example.org/?q=1&r=2#top", "!!! ??? ... --- ***", "_snake_case_ CamelCase",
    "caf\u00e9 na\u00efve r\u00e9sum\u00e9 \u00fcber stra\u00dfe", "cafe\u0301 combining", "\u0141\u00f3d\u017a \u010cesk\u00e9 Gda\u0144sk", "\u4f60\u597d\uff0c\u4e16\u754c\u3002", "\u65e5\u672c\u8a9e\u306e\u6587", "\ud55c\uad6d\uc5b4 \ubb38\uc7a5",
    "\u041f\u0440\u0438\u0432\u0435\u0442, \u043c\u0438\u0440!", "\u0645\u0631\u062d\u0628\u0627 \u0628\u0627\u0644\u0639\u0627\u0644\u0645", "\u0939\u093f\u0928\u094d\u0926\u0940", "emoji \U0001f600\U0001f680 and \U0001f469\u200d\U0001f4bb", "\u00b2\u00b3\u00bd \u2460 \u0663\u0664 \u216b",
    "non\u00a0breaking\u3000ideographic", "zero\u200bwidth", "<|bos|> is only text here <|eos|>",
]


def main():
    tok = Tokenizer.load(os.path.join(os.path.dirname(os.path.abspath(__file__)), "tokenizer.json"))
    rows = []
    for text in TEXTS:
        ids = tok.encode(text)
        assert tok.decode(ids) == text
        rows.append(json.dumps({"text": text, "ids": ids}))
    print("[\n  " + ",\n  ".join(rows) + "\n]")


if __name__ == "__main__":
    main()
