import type { ModelInfo } from '../engine/engine.ts';
import type { PromptPart } from '../fusion/blender.ts';
import type { FusionModel } from '../fusion/model.ts';
import { concat, withOneBos, type Offered, type Prompt } from '../answering/prompt.ts';
import { messagesFrame, type Role } from '../answering/template.ts';
import type { CompletionText } from './types.ts';

/** A chunk for a prompt, with its label in lists of stored chunks. */
export interface LabelledChunk extends Offered {
  label: string;
}

/** A message to lay out: text, and chunks that may be cached. */
export interface LaidMessage<C extends Offered> {
  role: Role;
  pieces: readonly (string | C)[];
}

type LayoutModel = Pick<FusionModel, 'info' | 'tokenize'>;

/** The maximum for a library's chunks, too. */
const MAX_CHUNK_TOKENS = 8192;

/**
 * Messages as token ids, in the model's chat template. Control tokens come only from the template: texts and chunks are tokenised
 * separately.
 */
export function layOutMessages<C extends Offered>(
  model: LayoutModel,
  messages: readonly LaidMessage<C>[],
  { think }: { think?: boolean | undefined } = {},
): Prompt<C> {
  const roles = messages.map(({ role }) => role);
  const { texts, plainBecause } = messagesFrame(model.info, roles, { think });
  const layout = new Layout<C>(model);
  const special = plainBecause === undefined;
  for (const [i, { pieces }] of messages.entries()) {
    layout.add(texts[i] ?? '', special);
    for (const piece of pieces) layout.add(piece, false);
  }
  layout.add(texts.at(-1) ?? '', special);
  return layout.prompt(plainBecause, texts.at(-1) ?? '');
}

/** Raw text to continue, after the model's BOS. */
export function layOutText<C extends Offered>(
  model: LayoutModel,
  pieces: readonly (string | C)[],
): Prompt<C> {
  const layout = new Layout<C>(model);
  for (const piece of pieces) layout.add(piece, false);
  return layout.prompt(undefined, '');
}

/** A client's text and chunks. Chunks over the limit are split. */
export function piecesOf(
  model: Pick<FusionModel, 'tokenize'>,
  parts: readonly CompletionText[],
): (string | LabelledChunk)[] {
  return parts.flatMap(({ text, cache, title = 'text of a client' }, i): (string | LabelledChunk)[] => {
    if (cache !== true || text === '') return [text];
    const tokens = model.tokenize(text);
    const count = Math.ceil(tokens.length / MAX_CHUNK_TOKENS);
    return Array.from({ length: count }, (_, ordinal) => ({
      tokens: tokens.slice(ordinal * MAX_CHUNK_TOKENS, (ordinal + 1) * MAX_CHUNK_TOKENS),
      label: title,
      score: 0,
      source: { document: `${title} (${i + 1})`, documentId: null, libraryId: null, title, ordinal },
    }));
  });
}

/** A prompt being built: adjacent text becomes one part. */
class Layout<C extends Offered> {
  readonly #model: LayoutModel;
  readonly #parts: PromptPart[] = [];
  readonly #cited: Prompt<C>['cited'] = [];

  constructor(model: LayoutModel) {
    this.#model = model;
  }

  add(piece: string | C, special: boolean): void {
    if (typeof piece === 'string') {
      if (piece !== '')
        this.#addText(this.#model.tokenize(piece, { special, begins: this.#parts.length === 0 }));
      return;
    }
    const { tokens, lead, source } = piece;
    if (this.#parts.length === 0) this.#addText(new Int32Array(0)); // the text that gets the BOS
    this.#cited.push({ chunk: piece, part: this.#parts.length });
    this.#parts.push({ kind: 'chunk', tokens, lead, source, turn: 0 });
  }

  prompt(plainBecause: string | undefined, behind: string): Prompt<C> {
    const parts = this.#parts.map((part, i) => (i === 0 ? begun(part, this.#model.info) : part));
    const tokens = parts.reduce((sum, part) => sum + part.tokens.length, 0);
    return { parts, tokens, cited: this.#cited, leftOut: [], turnsLeftOut: 0, plainBecause, behind };
  }

  #addText(tokens: Int32Array): void {
    const last = this.#parts.at(-1);
    if (last?.kind === 'text') last.tokens = concat(last.tokens, tokens);
    else this.#parts.push({ kind: 'text', tokens, turn: 0 });
  }
}

function begun(part: PromptPart, info: ModelInfo): PromptPart {
  return { ...part, tokens: withOneBos(part.tokens, info) };
}
