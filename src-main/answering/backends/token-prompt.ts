import { setImmediate as nextTurn } from 'node:timers/promises';
import { KvasirError } from '../../../src-shared/errors.ts';
import type { ModelInfo } from '../../engine/engine.ts';
import type { PromptPart } from '../../fusion/blender.ts';
import type { FusionModel } from '../../fusion/model.ts';
import { sameTokens } from '../../platform/token-bytes.ts';
import type { PromptChunk } from '../passages.ts';
import { fitted, type MarkedText, type Message, type Prompt, type PromptRequest } from '../prompt.ts';
import { SYSTEM_EDGE } from '../template-messages.ts';
import { messagesFrame, type FrameMessage, type MessagesFrame } from '../template.ts';
import { toolsUnsupported, type Tool } from '../tools.ts';

/** A prompt as token ids, up to the start of the answer. */
export interface TokenPrompt extends Prompt {
  parts: PromptPart[];
  /** The text directly before the answer. */
  behind: string;
}

type LayoutModel = Pick<FusionModel, 'info' | 'tokenize'>;

/** The maximum for a library's chunks, too. */
const MAX_CHUNK_TOKENS = 8192;

/** A prompt for a model that runs here. QUESTION_TOO_LONG for a conversation, else CONTEXT_OVERFLOW. */
export function tokenPrompt(model: LayoutModel, request: PromptRequest): TokenPrompt {
  return fitted(
    request,
    (messages) => (request.form === 'text' ? layOutText(model, messages) : layOut(model, messages, request)),
    (tokens) => tooLong(tokens, request),
  );
}

/**
 * Inserts the messages' tokens between the texts of the model's chat template. Control tokens come only from the template: everything else
 * is tokenised separately.
 */
function layOut(model: LayoutModel, sent: readonly Message[], request: PromptRequest): TokenPrompt {
  const turns = request.form === 'conversation';
  const { messages, frame } = frameOf(model, sent, request);
  const { texts, plainBecause } = frame;
  const behind = texts.at(-1) ?? '';
  // Only text from the template may become control tokens. A plain frame has none, and may contain the user's text.
  const special = plainBecause === undefined;
  const layout = new Layout(model, turns);
  const written = messages.filter((message) => shownText(message) === undefined);
  for (const [i, { role, pieces, answer }] of written.entries()) {
    const cites = !turns || i === written.length - 1;
    if (role === 'user') layout.beginTurn();
    layout.addFrame((answer && !answer.thought ? behind : texts[i]) ?? '', special);
    if (role === 'user') layout.endHead();
    if (answer) layout.addTokens(answer.tokens);
    else for (const piece of pieces) layout.add(piece, cites);
  }
  layout.addFrame(behind, special);
  return { ...layout.prompt(), plainBecause, behind };
}

/** The messages as its template keeps them, and the texts around them. BAD_ARGUMENT where it has no tools. */
function frameOf(
  { info }: LayoutModel,
  messages: readonly Message[],
  { think, form, tools: request }: PromptRequest,
): { messages: readonly Message[]; frame: MessagesFrame } {
  const tools = request?.tools ?? [];
  const frameFor = (all: readonly Message[]): MessagesFrame => {
    const shown = all.map((message): FrameMessage => ({ ...message, text: shownText(message) }));
    return messagesFrame(info, shown, { think, tools, turns: form === 'conversation' });
  };
  const frame = frameFor(messages);
  const requireTools = (each: MessagesFrame): MessagesFrame => {
    if (tools.length > 0 && !declares(info, each, tools)) throw withoutTools(info, each);
    return each;
  };
  const calls = messages.some((message) => message.calls ?? message.callId);
  if (!calls || frame.plainBecause === undefined) return { messages, frame: requireTools(frame) };
  // Some templates drop the text before a call.
  const bare = messages.map((message) => (message.calls ? { ...message, pieces: [] } : message));
  const again = frameFor(bare);
  if (again.plainBecause !== undefined) throw withoutTools(info, again);
  return { messages: bare, frame: requireTools(again) };
}

/** The text of a message that is part of the template's: undefined where a placeholder stands for it. */
function shownText({ pieces, isRead, calls }: Message): string | undefined {
  if (calls && pieces.length === 0) return '';
  return isRead ? pieces.filter((piece) => typeof piece === 'string').join('') : undefined;
}

/** Whether a template shows tools. */
function declares(info: ModelInfo, frame: MessagesFrame, tools: readonly Tool[]): boolean {
  if (frame.plainBecause !== undefined) return false;
  const shown = frame.texts.join('');
  const bare = messagesFrame(info, [{ role: 'user' }]).texts.join('');
  return tools.every(({ name }) => shown.includes(name)) && shown !== bare;
}

function withoutTools({ name }: ModelInfo, { plainBecause }: MessagesFrame): KvasirError {
  return toolsUnsupported(name, plainBecause && ` ${plainBecause}`);
}

/** Raw text to continue, after the model's BOS. */
function layOutText(model: LayoutModel, messages: readonly Message[]): TokenPrompt {
  const layout = new Layout(model, false);
  for (const piece of messages.flatMap(({ pieces }) => pieces)) layout.add(piece, true);
  return { ...layout.prompt(), plainBecause: undefined, behind: '' };
}

/** A prompt being built: adjacent text becomes one part, within a turn. */
class Layout {
  readonly #model: LayoutModel;
  /** Whether it is a conversation: parts end where turns begin, and a passage of an earlier turn is not repeated. */
  readonly #turns: boolean;
  readonly #parts: PromptPart[] = [];
  readonly #cited: Prompt['cited'] = [];
  #turn = -1;
  #open = false;

  constructor(model: LayoutModel, turns: boolean) {
    this.#model = model;
    this.#turns = turns;
  }

  beginTurn(): void {
    if (!this.#turns) return;
    this.#turn++;
    this.#open = false;
  }

  /** The text before the first turn has no user text: it is stored for other conversations. */
  endHead(): void {
    if (!this.#turns) return;
    if (this.#parts.length === 0) this.addTokens(new Int32Array(0));
    this.#open = false;
  }

  /** Text of the template. Nothing in a text that it reads can become a control token. */
  addFrame(text: string, special: boolean): void {
    for (const [i, piece] of text.split(SYSTEM_EDGE).entries()) this.#addText(piece, special && i % 2 === 0);
  }

  /** `cites`: whether it is of the question, and not of an earlier turn. */
  add(piece: Message['pieces'][number], cites: boolean): void {
    if (typeof piece === 'string') this.#addText(piece, false);
    else if ('tokens' in piece) this.#addChunk(piece, cites);
    else for (const chunk of chunksOf(piece, this.#model)) this.#addChunk(chunk, cites);
  }

  addTokens(tokens: Int32Array): void {
    const last = this.#parts.at(-1);
    if (last?.kind === 'text' && this.#open) last.tokens = concat(last.tokens, tokens);
    else this.#parts.push({ kind: 'text', tokens, turn: Math.max(0, this.#turn) });
    this.#open = true;
  }

  prompt(): Omit<TokenPrompt, 'plainBecause' | 'behind'> {
    const { info } = this.#model;
    const parts = this.#parts.map((part, i) =>
      i === 0 ? { ...part, tokens: withOneBos(part.tokens, info) } : part,
    );
    const tokens = parts.reduce((sum, part) => sum + part.tokens.length, 0);
    return { parts, tokens, cited: this.#cited, leftOut: [], turnsLeftOut: 0 };
  }

  #addText(text: string, special: boolean): void {
    if (text === '') return;
    this.addTokens(this.#model.tokenize(text, { special, begins: this.#parts.length === 0 }));
  }

  #addChunk(chunk: PromptChunk, cites: boolean): void {
    const { tokens, lead, source } = chunk;
    const turn = Math.max(0, this.#turn);
    if (this.#parts.length === 0) this.addTokens(new Int32Array(0)); // the text that gets the BOS
    const known = this.#turns
      ? this.#parts.findIndex(
          (part) => part.kind === 'chunk' && part.turn !== turn && sameTokens(part.tokens, tokens),
        )
      : -1;
    if (cites) this.#cited.push({ chunk, part: known < 0 ? this.#parts.length : known });
    if (known < 0) this.#parts.push({ kind: 'chunk', tokens, lead, source, turn });
  }
}

/** A client's text as chunks: one that exceeds the limit is split. */
function chunksOf({ text, title, position }: MarkedText, model: LayoutModel): PromptChunk[] {
  const tokens = model.tokenize(text);
  const count = Math.ceil(tokens.length / MAX_CHUNK_TOKENS);
  return Array.from({ length: count }, (_, ordinal) => ({
    text,
    tokens: tokens.slice(ordinal * MAX_CHUNK_TOKENS, (ordinal + 1) * MAX_CHUNK_TOKENS),
    label: title,
    score: 0,
    source: { document: `${title} (${position + 1})`, documentId: null, libraryId: null, title, ordinal },
  }));
}

function tooLong(tokens: number, request: PromptRequest): KvasirError {
  if (request.form === 'conversation') return questionTooLong(tokens, request);
  return contextOverflow(
    `The prompt has ${tokens} tokens, but the context holds ${request.contextTokens}, and the answer needs room as well.`,
  );
}

export function questionTooLong(
  tokens: number,
  { contextTokens, reserve }: Pick<PromptRequest, 'contextTokens' | 'reserve'>,
): KvasirError {
  return new KvasirError(
    'QUESTION_TOO_LONG',
    `The question has ${tokens} tokens, but the context holds ${contextTokens}, of which ${reserve} are reserved for the answer.`,
    'Ask a shorter question, or use a model with a larger context.',
  );
}

export function contextOverflow(message: string): KvasirError {
  return new KvasirError(
    'CONTEXT_OVERFLOW',
    message,
    'Send less text, or use a model with a larger context.',
  );
}

/** UTF-16 units per token, more in hardly any text; prompts under the limit by this measure are tokenised whole. */
const CHARACTERS_PER_TOKEN = 8;
const SLICE_CHARACTERS = 64 * 1024;
/** Tokens that splitting a text into two slices may add. */
const CUT_TOKENS = 16;

/**
 * CONTEXT_OVERFLOW for texts of many more than `limit` tokens, judged from their beginning. Tokenising takes about a second for three megabytes,
 * on the only thread, so a prompt that is far too long is not tokenised to its end. Yields between slices.
 */
export async function requireFits(
  texts: readonly string[],
  model: Pick<LayoutModel, 'tokenize'>,
  limit: number,
): Promise<void> {
  const characters = texts.reduce((sum, text) => sum + text.length, 0);
  if (characters <= limit * CHARACTERS_PER_TOKEN) return;
  let room = limit;
  for (const text of texts)
    for (let at = 0; at < text.length; at += SLICE_CHARACTERS) {
      const end = at + SLICE_CHARACTERS;
      room -= model.tokenize(text.slice(at, end)).length - (end < text.length ? CUT_TOKENS : 0);
      if (room < 0)
        throw contextOverflow(
          `The prompt has many more tokens, but the context holds ${limit}, and the answer needs room as well.`,
        );
      await nextTurn();
    }
}

/** Templates write the BOS or leave it to the tokenizer; either way a prompt starts with exactly one. */
export function withOneBos(ids: Int32Array, info: Pick<ModelInfo, 'bosToken' | 'addBos'>): Int32Array {
  if (info.bosToken < 0) return ids;
  let start = 0;
  while (ids[start] === info.bosToken) start++;
  const wanted = start > 0 || info.addBos;
  return wanted ? concat(Int32Array.of(info.bosToken), ids.subarray(start)) : ids;
}

/** Text of a model's template. Nothing in a text that it reads can become a control token. */
export function templateTokens(model: Pick<LayoutModel, 'tokenize'>, text: string): Int32Array {
  const pieces = text.split(SYSTEM_EDGE).map((piece, i) => model.tokenize(piece, { special: i % 2 === 0 }));
  return concat(...pieces);
}

/** Concatenates token ids. */
export function concat(...arrays: readonly Int32Array[]): Int32Array {
  const joined = new Int32Array(arrays.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const array of arrays) {
    joined.set(array, at);
    at += array.length;
  }
  return joined;
}
