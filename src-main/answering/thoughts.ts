import type { FusionModel } from '../fusion/model.ts';
import { TimeSlice } from '../platform/time-slice.ts';
import { StreamDetokenizer } from './detokenizer.ts';

/** More text from a model: its thinking and its answer. */
export interface AnswerDelta {
  thought: string;
  answer: string;
}

/** Converts the tokens of an answer into text. */
export interface AnswerDecoder {
  /** How many of the first tokens do not belong to the answer. */
  readonly tokensBefore: number;
  push(token: number): AnswerDelta;
  /** The remaining text at the end of the stream. */
  flush(): AnswerDelta;
}

/** The part of a model that turns tokens into text. */
type Detokenizer = Pick<FusionModel, 'detokenize'>;

/** The text of some consecutive tokens; `shown` lacks control tokens. */
interface Piece {
  text: string;
  shown: string;
  /** Index of the first of its tokens. */
  token: number;
}

/** The marks around thoughts, by the families that write them. The first that a template contains are its own. */
const THOUGHTS = new Map([
  ['<think>', '</think>'], // Qwen 3, SmolLM 3, GLM, Granite, DeepSeek R1, EXAONE 4, Kimi K2
  ['[THINK]', '[/THINK]'], // Mistral
  ['<thought>', '</thought>'], // EXAONE Deep
  ['<seed:think>', '</seed:think>'], // Seed-OSS
  ['<|START_THINKING|>', '<|END_THINKING|>'], // Cohere
  ['<|inner_prefix|>', '<|inner_suffix|>'], // Apertus
  ['◁think▷', '◁/think▷'], // Kimi-VL
  ['<|open|>think<|sep|>', '<|close|>think<|sep|>'], // Kimi K3
  ['Here are my reasoning steps:', '[BEGIN FINAL RESPONSE]'], // Apriel
  ['<|channel>thought', '<channel|>'], // Gemma 4
  ['<|channel|>analysis<|message|>', '<|end|><|start|>assistant'], // gpt-oss
  ['<|channel|>commentary<|message|>', '<|end|><|start|>assistant'],
  ['<|think|>', '<|end|><|begin|>assistant'], // Solar Open
]);

/** The marks around answers, after a thought or without one. One that ends a thought begins the answer as well. */
const ANSWERS = new Map([
  ['<response>', '</response>'], // Granite
  ['<|START_RESPONSE|>', '<|END_RESPONSE|>'], // Cohere
  ['<|START_TEXT|>', '<|END_TEXT|>'],
  ['<|open|>response<|sep|>', '<|close|>response<|sep|>'], // Kimi K3
  ['[BEGIN FINAL RESPONSE]', '[END FINAL RESPONSE]'], // Apriel
  ['<|channel|>final<|message|>', ''], // gpt-oss
  ['<|content|>', ''], // Solar Open
]);

/** An end mark without a start mark is not shown: the model closes a thought that the prompt had closed, or one that it never opened. */
export const STRAY = { begin: '<think>', end: '</think>' };

/** Marks that are not shown where an answer or thought could begin; Kimi K3 ends its message with the second. */
const IGNORED = [STRAY.end, '<|close|>message<|sep|>'];

const BEGINNINGS = [...THOUGHTS.keys(), ...ANSWERS.keys()];

/**
 * Splits a model's output into thoughts and the answer, by the marks around them: control tokens or text. They count at the beginning and
 * after a thought; within an answer they are ordinary text.
 */
export class ThoughtStream implements AnswerDecoder {
  readonly #model: Detokenizer;
  readonly #showsControl: boolean;
  readonly #detokenizer: StreamDetokenizer;
  #within: 'nothing' | 'thought' | 'answer' = 'nothing';
  /** The mark that ends it; '' when none does. */
  #end = '';
  /** Whether the answer mentions a start mark, so that it may mention an end mark, too. */
  #speaksOfThoughts = false;
  /** The end of the emitted answer text, where such a start mark may begin. */
  #recent = '';
  /** May turn out to be a mark, or part of one. */
  #held: Piece[] = [];
  #tokens = 0;
  /** The first of the tokens whose character is not complete yet. */
  #pending: number | undefined;
  #answerFrom: number | undefined;
  #marked = false;
  /** Written before the next text, if there is text before it. */
  #gap = { thought: '', answer: '' };
  #begun = { thought: false, answer: false };

  /** `behind`: the end of the prompt. Some templates open the thought, or the answer. `showsControl`: whether answers show control tokens, as around calls. */
  constructor(model: Detokenizer, behind: string, { showsControl = false } = {}) {
    this.#model = model;
    this.#showsControl = showsControl;
    this.#detokenizer = new StreamDetokenizer((tokens) => model.detokenize(tokens));
    const end = endOfThought(behind);
    if (end !== '') this.#enter('thought', end);
    const answer = [...ANSWERS].find(([mark]) => behind.trimEnd().endsWith(mark));
    if (answer) this.#enter('answer', answer[1]);
  }

  /** How many of the first tokens do not belong to the answer: thoughts, marks, and white space after them. */
  get tokensBefore(): number {
    return this.#marked ? (this.#answerFrom ?? this.#tokens) : 0;
  }

  push(token: number): AnswerDelta {
    const shown = this.#detokenizer.push(token);
    const isHidden = this.#within === 'answer' && this.#end === '' && !this.#showsControl;
    const text = shown === '' && !isHidden ? this.#controlText(token) : shown;
    this.#pending ??= this.#tokens;
    this.#tokens++;
    if (text === '') return { thought: '', answer: '' };
    this.#hold(text, this.#showsControl ? text : shown);
    return this.#take(false);
  }

  /** More text from a model whose tokens are unknown; `tokens`: how many it is estimated to have. */
  pushText(text: string, tokens: number): AnswerDelta {
    if (text !== '') this.#hold(text, text);
    this.#tokens += tokens;
    return this.#take(false);
  }

  /** A mark that counts as a control token, so that an answer does not show it. */
  pushMark(mark: string): AnswerDelta {
    if (this.#within !== 'answer') this.#hold(mark, '');
    return this.#take(false);
  }

  /** The remaining text at the end of the stream. */
  flush(): AnswerDelta {
    const shown = this.#detokenizer.flush();
    this.#hold(shown, shown);
    return this.#take(true);
  }

  #hold(text: string, shown: string): void {
    this.#held.push({ text, shown, token: this.#pending ?? this.#tokens });
    this.#pending = undefined;
  }

  /** '' for a token that is part of a character. */
  #controlText(token: number): string {
    return this.#model.detokenize([token]) === '' ? this.#model.detokenize([token], { special: true }) : '';
  }

  #take(last: boolean): AnswerDelta {
    const written: AnswerDelta = { thought: '', answer: '' };
    while (this.#within === 'nothing' ? this.#begin(last) : this.#goOn(last, written));
    return written;
  }

  /** Determines what begins here; false when more text is needed. */
  #begin(last: boolean): boolean {
    while (this.#held[0]?.text.trimStart() === '') this.#held.shift();
    const text = textOf(this.#held).trimStart();
    const mark = BEGINNINGS.find((beginning) => text.startsWith(beginning));
    if (mark !== undefined) {
      this.#held = splitAt(this.#held, textOf(this.#held).length - text.length + mark.length)[1];
      const end = THOUGHTS.get(mark);
      this.#enter(end === undefined ? 'answer' : 'thought', end ?? ANSWERS.get(mark));
      return true;
    }
    const ignored = IGNORED.find((each) => text.startsWith(each));
    if (ignored !== undefined) {
      this.#held = splitAt(this.#held, textOf(this.#held).length - text.length + ignored.length)[1];
      this.#marked = true;
      return true;
    }
    if (!last && [...BEGINNINGS, ...IGNORED].some((mark) => mark.startsWith(text))) return false;
    this.#within = 'answer';
    this.#end = '';
    this.#answerFrom ??= this.#held[0]?.token;
    return text !== '';
  }

  /** Emits text that cannot belong to the end mark; true when the mark is reached. */
  #goOn(last: boolean, written: AnswerDelta): boolean {
    const kind = this.#within === 'thought' ? 'thought' : 'answer';
    const text = textOf(this.#held);
    const end = this.#end === '' ? this.#strayEnd(text) : this.#end;
    const at = end === '' ? -1 : text.indexOf(end);
    const open = at >= 0 ? text.length - at : last ? 0 : overlap(text, end);
    const [out, rest] = splitAt(this.#held, text.length - open);
    const isAnswer = kind === 'thought' && ANSWERS.has(end);
    this.#held = at >= 0 && !isAnswer ? splitAt(rest, end.length)[1] : rest;
    if (kind === 'answer') this.#answerFrom ??= out.find(({ shown }) => shown.trim() !== '')?.token;
    written[kind] += this.#spaced(kind, out.map(({ shown }) => shown).join(''));
    if (at >= 0 && this.#end !== '') this.#within = 'nothing';
    return at >= 0;
  }

  /** An end mark that must not appear in an answer; '' once the answer mentions thoughts. */
  #strayEnd(text: string): string {
    const whole = this.#recent + text;
    const [begin, end] = [whole.indexOf(STRAY.begin), whole.indexOf(STRAY.end)];
    this.#speaksOfThoughts ||= begin >= 0 && (end < 0 || begin < end);
    this.#recent = whole.slice(1 - STRAY.begin.length);
    return this.#speaksOfThoughts ? '' : STRAY.end;
  }

  #enter(within: 'thought' | 'answer', end = ''): void {
    this.#within = within;
    this.#end = end;
    this.#marked = true;
    this.#gap[within] = this.#begun[within] ? '\n\n' : '';
    if (within === 'answer') this.#answerFrom = undefined;
  }

  /** Removes leading white space, such as the space that belongs to the prompt's last word. */
  #spaced(kind: 'thought' | 'answer', text: string): string {
    const atBeginning = !this.#begun[kind] || this.#gap[kind] !== '';
    const shown = atBeginning ? text.trimStart() : text;
    if (shown === '') return '';
    const spaced = this.#gap[kind] + shown;
    this.#gap[kind] = '';
    this.#begun[kind] = true;
    return spaced;
  }
}

/** The mark that ends a thought which the prompt opened at its end; '' when it opened none. */
export function endOfThought(behind: string): string {
  const opened = [...THOUGHTS.keys()].find((mark) => behind.trimEnd().endsWith(mark));
  return opened === undefined ? '' : (THOUGHTS.get(opened) ?? '');
}

/** The marks around a thought before an answer, `begin` '' where the prompt opened it; undefined: the template has none. */
export function thoughtMarks(template: string, behind: string): { begin: string; end: string } | undefined {
  const opened = endOfThought(behind);
  if (opened !== '') return { begin: '', end: opened };
  const [begin, end] = [...THOUGHTS].find(([mark]) => template.includes(mark)) ?? [];
  return begin === undefined || end === undefined ? undefined : { begin, end };
}

function textOf(pieces: readonly Piece[]): string {
  return pieces.map(({ text }) => text).join('');
}

/** The text's first `length` UTF-16 units, and the rest; a control token is not split. */
function splitAt(pieces: readonly Piece[], length: number): [Piece[], Piece[]] {
  const [before, behind]: [Piece[], Piece[]] = [[], []];
  let at = 0;
  for (const piece of pieces) {
    const { text, shown, token } = piece;
    const room = length - at;
    if (text.length <= room) before.push(piece);
    else if (room <= 0 || shown !== text) behind.push(piece);
    else {
      const [head, tail] = [text.slice(0, room), text.slice(room)];
      before.push({ text: head, shown: head, token });
      behind.push({ text: tail, shown: tail, token });
    }
    at += text.length;
  }
  return [before, behind];
}

/** Length of the longest suffix of `text` that is a prefix of `mark`, shorter than `mark`. */
export function overlap(text: string, mark: string): number {
  for (let length = Math.min(text.length, mark.length - 1); length > 0; length--)
    if (text.endsWith(mark.slice(0, length))) return length;
  return 0;
}

/** Raw text as sampled, without recognising thoughts or trimming: the continuation of a text. */
export class PlainDecoder implements AnswerDecoder {
  readonly tokensBefore = 0;
  readonly #detokenizer: StreamDetokenizer;

  constructor(model: Detokenizer) {
    this.#detokenizer = new StreamDetokenizer((tokens) => model.detokenize(tokens));
  }

  push(token: number): AnswerDelta {
    return { thought: '', answer: this.#detokenizer.push(token) };
  }

  flush(): AnswerDelta {
    return { thought: '', answer: this.#detokenizer.flush() };
  }
}

/** Text of tokens that were generated before. */
export async function pushAll(
  writing: Pick<AnswerDecoder, 'push'>,
  tokens: Int32Array,
): Promise<AnswerDelta> {
  const all: AnswerDelta = { thought: '', answer: '' };
  const slice = new TimeSlice();
  for (const token of tokens) {
    const { thought, answer } = writing.push(token);
    all.thought += thought;
    all.answer += answer;
    await slice.step();
  }
  return all;
}
