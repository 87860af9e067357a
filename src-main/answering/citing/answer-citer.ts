import type { Citation, CitedSentence } from '../../../src-shared/contract/chat.ts';
import { isAbbreviated, sourcesIn } from './sentences.ts';
import { SourceSentences } from './source-sentences.ts';

/** Ends of sentences: punctuation with closing marks after it, where the next one can begin, or the end of a line, with a last bar. */
const END =
  /[.!?]+["'”’)\]*_]*(?=\s)|[。！？]+[”’」』）*_]*(?=[^。！？”’」』）*_])|[ \t]{0,9}\|?[ \t]{0,9}(?=\n)/u;
/** May turn out to be one. */
const OPEN = /(?:[.!?。！？]+["'”’)\]」』）*_]*|[ \t]{0,9}\|?[ \t]{0,9})$/u;
/** The end of a line and of a table's row, outside the last cell. */
const LINE_END = /[ \t]{0,9}\|?[ \t]{0,9}$/;
const FENCE = /^\s*(?:```|~~~)/;
const HEADING = /^\s*#/;
/** Rows of tables may be heads; questions and lines that announce others state nothing. */
const STATES_NOTHING = /^\s*\||[:：?？]\s*$/u;

interface AnswerCiterOptions {
  /** The passages in its prompt, in citation order. */
  passages: readonly Pick<Citation, 'text' | 'title'>[];
  question: string;
  /** Whether these are all passages that the model reads. If not, a sentence without a source may rest on another. */
  complete: boolean;
  /** Whether the numbers of the passages, such as [2], are inserted before a sentence's full stop. */
  numbered?: boolean;
}

/** More of an answer, and the sentences that end in it. */
export interface CitedText {
  text: string;
  sentences: CitedSentence[];
}

/** Ties each sentence of a stream, when it ends, to the sentences of the passages that carry its facts. */
export class AnswerCiter {
  readonly sentences: CitedSentence[] = [];
  readonly #options: AnswerCiterOptions;
  readonly #sources: readonly { citation: number; start: number; end: number }[];
  readonly #index: SourceSentences;
  /** A repeated sentence is cited only at its first occurrence. */
  readonly #said = new Set<string>();
  #sentence = '';
  #held = '';
  #length = 0;
  #inCode = false;

  constructor(options: AnswerCiterOptions) {
    const sources = options.passages.flatMap(({ text, title }, citation) =>
      sourcesIn(text, title).map((source) => ({ ...source, citation })),
    );
    this.#options = options;
    this.#sources = sources;
    this.#index = new SourceSentences(sources, options.question);
  }

  /** The text may lack its last punctuation until more is known. */
  push(more: string): CitedText {
    const before = this.sentences.length;
    let rest = this.#held + more;
    let text = '';
    for (let end; (end = END.exec(rest));) {
      const behind = end.index + end[0].length;
      const gap = /^\s*/.exec(rest.slice(behind))?.[0] ?? '';
      text += this.#grown(rest.slice(0, end.index));
      const isLine = end[0].replace(LINE_END, '') === '';
      if (isLine || (/\p{L}/u.test(this.#sentence) && !isAbbreviated(this.#sentence + end[0])))
        text += this.#ended(end[0]) + this.#grown(gap, false);
      else text += this.#grown(end[0] + gap);
      rest = rest.slice(behind + gap.length);
    }
    const open = OPEN.exec(rest)?.index ?? rest.length;
    text += this.#grown(rest.slice(0, open));
    this.#held = rest.slice(open);
    return { text, sentences: this.sentences.slice(before) };
  }

  /** The remaining text at the end of the stream. */
  flush(): CitedText {
    const before = this.sentences.length;
    const text = this.#ended(this.#held);
    this.#held = '';
    return { text, sentences: this.sentences.slice(before) };
  }

  #grown(text: string, isSentence = true): string {
    if (isSentence) this.#sentence += text;
    this.#length += text.length;
    return text;
  }

  /** The end of a sentence, with the marks before it. */
  #ended(punctuation: string): string {
    const sentence = this.#sentence;
    const start = this.#length - sentence.trimStart().length;
    this.#sentence = '';
    const sources = this.#sourcesOf(sentence);
    const numbers = [...new Set(sources?.map(({ citation }) => citation + 1))].sort((a, b) => a - b);
    const numbered = this.#options.numbered === true && numbers.length > 0;
    const marks = numbered ? ` ${numbers.map((number) => `[${number}]`).join('')}` : '';
    const end = this.#grown(marks + punctuation, false);
    const outside = LINE_END.exec(punctuation)?.[0].length ?? 0;
    const isOwn =
      sources?.length === 0 && this.#options.complete && !STATES_NOTHING.test(sentence + punctuation);
    if (sources && (sources.length > 0 || isOwn))
      this.sentences.push({ start, end: this.#length - outside, sources });
    return end;
  }

  /** undefined for code, headings, and what was said before. */
  #sourcesOf(sentence: string): CitedSentence['sources'] | undefined {
    if (FENCE.test(sentence)) this.#inCode = !this.#inCode;
    const said = sentence.trim();
    if (this.#inCode || FENCE.test(sentence) || HEADING.test(sentence)) return undefined;
    if (!/\p{L}/u.test(said) || this.#said.has(said)) return undefined;
    this.#said.add(said);
    return this.#index.of(said).flatMap((index) => {
      const { citation = -1, start = 0, end = 0 } = this.#sources[index] ?? {};
      return citation < 0 ? [] : [{ citation, start, end }];
    });
  }
}
