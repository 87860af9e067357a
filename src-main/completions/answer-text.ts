import type { Citation, CitedSentence } from '../../src-shared/contract/chat.ts';
import type { TokenLogprobs } from '../answering/backends/backend.ts';
import { AnswerCiter, type CitedText } from '../answering/citing/answer-citer.ts';
import { StopTexts } from './stop-texts.ts';
import type { CompletionRun } from './types.ts';

interface AnswerTextOptions extends Pick<CompletionRun, 'onDelta' | 'onThought'> {
  stops: readonly string[];
  /** Called when a stop text is complete: no more tokens are needed. */
  onStop: () => void;
}

/** The text of an answer from its sampled tokens: without thoughts, up to a stop text, streamed. */
export class AnswerText {
  text = '';
  thought = '';
  stoppedBy: string | undefined;
  readonly logprobs: TokenLogprobs[] = [];
  readonly #options: AnswerTextOptions;
  readonly #stops: StopTexts;
  #citer: AnswerCiter | undefined;
  #passages: readonly Citation[] = [];
  /** Tokens whose text has not been emitted yet. */
  #pending: { index: number; logprobs: TokenLogprobs }[] = [];
  #tokens = 0;

  constructor(options: AnswerTextOptions) {
    this.#options = options;
    this.#stops = new StopTexts(options.stops);
  }

  /** Tokens of the answer up to where it was stopped, thoughts included. */
  get tokens(): number {
    return this.#tokens;
  }

  /** Its sentences and their sources; undefined where it is not cited. */
  get sentences(): CitedSentence[] | undefined {
    return this.#citer?.sentences;
  }

  /** Inserts the numbers of the passages that its sentences rest on. */
  cite(passages: readonly Citation[], question: string): void {
    this.#passages = passages;
    this.#citer ??= new AnswerCiter({ passages, question, complete: true, numbered: true });
  }

  token(logprobs: TokenLogprobs | undefined): void {
    if (this.stoppedBy !== undefined) return;
    const index = this.#tokens++;
    if (logprobs) this.#pending.push({ index, logprobs });
  }

  think(more: string): void {
    if (this.stoppedBy !== undefined) return;
    this.thought += more;
    this.#options.onThought?.(more);
  }

  /** `tokensBefore`: how many tokens do not belong to the answer. */
  write(more: string, tokensBefore: number): void {
    if (this.stoppedBy !== undefined) return;
    const { text, stoppedBy } = this.#stops.push(more);
    this.#tell(this.#citer?.push(text) ?? { text, sentences: [] }, tokensBefore);
    if (stoppedBy === undefined) return;
    this.stoppedBy = stoppedBy;
    this.#options.onStop();
  }

  /** Emits the text that was held back. */
  flush(tokensBefore: number): void {
    const rest = this.stoppedBy === undefined ? this.#stops.flush() : '';
    this.#tell(this.#citer?.push(rest) ?? { text: rest, sentences: [] }, tokensBefore);
    if (this.#citer) this.#tell(this.#citer.flush(), tokensBefore);
  }

  /** Emits also the probabilities of tokens without text. */
  end(tokensBefore: number): void {
    this.flush(tokensBefore);
    if (this.stoppedBy === undefined && this.#pending.length > 0)
      this.#deliver({ text: '', sentences: [] }, tokensBefore);
  }

  #tell(more: CitedText, tokensBefore: number): void {
    if (more.text !== '' || more.sentences.length > 0) this.#deliver(more, tokensBefore);
  }

  #deliver({ text, sentences }: CitedText, from: number): void {
    const logprobs = this.#pending.flatMap((each) => (each.index >= from ? [each.logprobs] : []));
    this.#pending = [];
    this.logprobs.push(...logprobs);
    this.text += text;
    this.#options.onDelta?.({
      text,
      ...(sentences.length > 0 && { cited: { sentences, passages: this.#passages } }),
      ...(logprobs.length > 0 && { logprobs }),
    });
  }
}
