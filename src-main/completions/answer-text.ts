import type { Citation } from '../../src-shared/contract/chat.ts';
import type { TokenLogprobs } from '../answering/backends/backend.ts';
import { CitationMarks } from './citation-marks.ts';
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
  #marks: CitationMarks | undefined;
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

  /** Inserts the numbers of passages that support its sentences. */
  mark(citations: readonly Citation[], question: string): void {
    this.#marks ??= new CitationMarks(
      citations.map(({ text }) => text),
      question,
    );
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
    this.#tell(this.#marks?.push(text) ?? text, tokensBefore);
    if (stoppedBy === undefined) return;
    this.stoppedBy = stoppedBy;
    this.#options.onStop();
  }

  /** Emits the text that was held back. */
  flush(tokensBefore: number): void {
    const marks = this.#marks;
    const rest = this.stoppedBy === undefined ? this.#stops.flush() : '';
    this.#tell(marks ? marks.push(rest) + marks.flush() : rest, tokensBefore);
  }

  /** Emits also the probabilities of tokens without text. */
  end(tokensBefore: number): void {
    this.flush(tokensBefore);
    if (this.stoppedBy === undefined && this.#pending.length > 0) this.#deliver('', tokensBefore);
  }

  #tell(text: string, tokensBefore: number): void {
    if (text !== '') this.#deliver(text, tokensBefore);
  }

  #deliver(text: string, from: number): void {
    const logprobs = this.#pending.flatMap((each) => (each.index >= from ? [each.logprobs] : []));
    this.#pending = [];
    this.logprobs.push(...logprobs);
    this.text += text;
    this.#options.onDelta?.({ text, ...(logprobs.length > 0 && { logprobs }) });
  }
}
