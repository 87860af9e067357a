import type { AnswerDelta, Writing } from '../answering/thoughts.ts';
import type { FusionModel } from '../fusion/model.ts';
import type { TokenChances } from '../engine/engine.ts';
import { StreamDetokenizer } from '../answering/detokenizer.ts';
import type { CitationMarks } from './citation-marks.ts';
import { StopTexts } from './stop-texts.ts';
import type { CompletionRun, TokenLogprobs } from './types.ts';

interface AnswerTextOptions extends Pick<CompletionRun, 'onDelta' | 'onThought'> {
  model: Pick<FusionModel, 'detokenize'>;
  /** Turns tokens into text; knows how many tokens are thoughts. */
  writing: Pick<Writing, 'tokensBefore'>;
  stops: readonly string[];
  marks?: CitationMarks | undefined;
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

  token(token: number, chances: TokenChances | undefined): void {
    if (this.stoppedBy !== undefined) return;
    const index = this.#tokens++;
    if (chances) this.#pending.push({ index, logprobs: this.#logprobsOf(token, chances) });
  }

  think(more: string): void {
    if (this.stoppedBy !== undefined) return;
    this.thought += more;
    this.#options.onThought?.(more);
  }

  write(more: string): void {
    if (this.stoppedBy !== undefined) return;
    const { text, stoppedBy } = this.#stops.push(more);
    this.#tell(this.#options.marks?.push(text) ?? text);
    if (stoppedBy === undefined) return;
    this.stoppedBy = stoppedBy;
    this.#options.onStop();
  }

  /** Emits the text that was held back. */
  end(): void {
    const { marks } = this.#options;
    const rest = this.stoppedBy === undefined ? this.#stops.flush() : '';
    this.#tell(marks ? marks.push(rest) + marks.flush() : rest);
    if (this.stoppedBy === undefined && this.#pending.length > 0) this.#deliver('');
  }

  #tell(text: string): void {
    if (text !== '') this.#deliver(text);
  }

  #deliver(text: string): void {
    const from = this.#options.writing.tokensBefore;
    const logprobs = this.#pending.flatMap((each) => (each.index >= from ? [each.logprobs] : []));
    this.#pending = [];
    this.logprobs.push(...logprobs);
    this.text += text;
    this.#options.onDelta?.({ text, ...(logprobs.length > 0 && { logprobs }) });
  }

  #logprobsOf(token: number, { logprob, top }: TokenChances): TokenLogprobs {
    const text = (id: number): string => this.#options.model.detokenize([id], { special: true });
    return {
      token,
      text: text(token),
      logprob,
      top: top.map((each) => ({ ...each, text: text(each.token) })),
    };
  }
}

/** Raw text as sampled, without recognising thoughts or trimming: the continuation of a text. */
export class PlainWriting implements Writing {
  readonly tokensBefore = 0;
  readonly #detokenizer: StreamDetokenizer;

  constructor(model: Pick<FusionModel, 'detokenize'>) {
    this.#detokenizer = new StreamDetokenizer((tokens) => model.detokenize(tokens));
  }

  push(token: number): AnswerDelta {
    return { thought: '', answer: this.#detokenizer.push(token) };
  }

  flush(): AnswerDelta {
    return { thought: '', answer: this.#detokenizer.flush() };
  }
}
