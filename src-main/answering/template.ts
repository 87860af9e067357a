import { createContext, Script } from 'node:vm';
import { Template } from '@huggingface/jinja';
import type { Failure } from '../../src-shared/contract/common.ts';
import { KvasirError } from '../../src-shared/errors.ts';
import type { ModelInfo } from '../engine/engine.ts';
import { failureOf } from '../platform/failure.ts';
import { renderBounded } from './bounded-jinja.ts';

/** One turn of a conversation with its placeholders: `before` + documents + `between` + question + `after` + answer. */
interface TurnFrame {
  /**
   * From the model's template: its control tokens are intended. For the first turn, everything before it; the system prompt is enclosed in
   * two SYSTEM_EDGE and is plain text.
   */
  before: string;
  /** Kvasir's text inside the user's message. */
  between: string;
  /** Up to the position of the answer. */
  after: string;
  /** The same as templates render it later, for an answer whose thought is dropped. */
  answered: string;
}

interface ConversationFrame {
  turns: TurnFrame[];
  /** Why the model's own template could not be used, in one sentence. */
  plainBecause: string | undefined;
}

type TemplateInfo = Pick<ModelInfo, 'chatTemplate' | 'bosText' | 'eosText'>;

interface FrameRequest {
  /** The number of questions; the last one is unanswered. */
  turns: number;
  systemPrompt?: string | undefined;
  /** Whether to think before answering, where the template offers the choice. */
  think?: boolean | undefined;
}

/** The role of a message. */
export type Role = 'system' | 'user' | 'assistant';

/** A message to render: numbers are placeholders, numbered from 0 across all messages. */
interface HoledMessage {
  role: Role;
  content: readonly (string | number)[];
}

/** Messages with one placeholder each: `texts[i]` precedes the content of message i, the last text follows all of them. */
interface MessagesFrame {
  texts: string[];
  /** As in ConversationFrame. */
  plainBecause: string | undefined;
}

/** The text between documents and question: the form the demo model was trained on. */
export const QUESTION_MARK = 'Question: ';

/** A private-use character, as for placeholders. */
export const SYSTEM_EDGE = '\uE001';

/**
 * Placeholders are private-use characters: no template writes or trims them, and `upper`/`lower` filters leave them alone. Border, number
 * in two digits, border.
 */
const HOLE = /\uE000([\uE010-\uF00F])([\uE010-\uF00F])\uE000/u;
const FIRST_DIGIT = 0xe010;
const DIGITS = 0x1000;
const MAX_TURNS = 0x18f0;

/** Templates come from untrusted models and may loop forever. Valid ones take a few milliseconds. */
const MAX_RENDER_MS = 2000;
/** The template of the model in use. */
let parsed: { source: string; template: Template } | undefined;
/** Templates that exceeded the time limit: waited for once, not at every question. */
const endless = new Set<string>();
/** One context for all renderings: the memory of each new one is freed late. */
const timed = { script: new Script('work()'), context: createContext({}) };
/** UTF-16 units of a rendered frame, which holds no documents. */
const MAX_FRAME_UNITS = 2 * 1024 * 1024;

/** Frames by what they were rendered from, the latest last: a question asks for the previous question's frame, or for one more turn. */
const rendered = new Map<string, ConversationFrame | MessagesFrame>();
const MOST_RENDERED = 4;
/** Templates that insert the current time render differently each time. */
const TELLS_TIME = /strftime_now/;

/**
 * Renders the model's chat template for a conversation around placeholders for documents, questions and answers, so that these can be
 * tokenised separately: nothing in a document can then become a control token, and an answer keeps exactly the tokens that were sampled.
 * Falls back to a plain prompt when the model has no template or it cannot be rendered in time.
 */
export function conversationFrame(
  info: TemplateInfo,
  { turns, systemPrompt = '', think = false }: FrameRequest,
): ConversationFrame {
  if (turns < 1 || turns > MAX_TURNS) throw new TypeError(`turns must be between 1 and ${MAX_TURNS}`);
  return frameOf<ConversationFrame>(info, ['turns', systemPrompt, turns, think], {
    render: () => {
      const texts = turnTexts(info, { turns, systemPrompt, think });
      return texts && { turns: splitIntoTurns(texts, turns), plainBecause: undefined };
    },
    plain: (plainBecause) => ({ turns: plainTurns(systemPrompt, turns), plainBecause }),
  });
}

/** Why the model's own template cannot be used, tested with a first question; undefined when it can, or when there is none. */
export function templateFailure(info: TemplateInfo & Pick<ModelInfo, 'name'>): Failure | undefined {
  const { plainBecause } = conversationFrame(info, { turns: 1 });
  if (plainBecause === undefined || info.chatTemplate.trim() === '') return undefined;
  const what = info.name === '' ? 'The model' : info.name;
  const advice =
    'Answers may be worse than the model is capable of. Look for another file of this model, with a corrected template.';
  return failureOf(
    new KvasirError(
      'MODEL_UNSUPPORTED',
      `${what} can be used, but not as it was trained. ${plainBecause}`,
      advice,
    ),
  );
}

/**
 * The frame of messages in any order that a client sends. Where the template rejects or drops that order, a system message is prepended to
 * the next user message, and consecutive messages of one role are merged.
 */
export function messagesFrame(
  info: TemplateInfo,
  roles: readonly Role[],
  { think = false }: Pick<FrameRequest, 'think'> = {},
): MessagesFrame {
  const asSent = roles.map((role, i): HoledMessage => ({ role, content: [i] }));
  return frameOf<MessagesFrame>(info, ['messages', roles, think], {
    render: () => {
      const texts = firstThatKeeps(info, [asSent, folded(asSent)], { think, holes: roles.length });
      return texts && { texts, plainBecause: undefined };
    },
    plain: (plainBecause) => ({ texts: plainTexts(roles), plainBecause }),
  });
}

/** A frame from the model's template, cached where the result can only be the same; else a plain one. */
function frameOf<F extends ConversationFrame | MessagesFrame>(
  info: TemplateInfo,
  what: readonly unknown[],
  { render, plain }: { render: () => F | undefined; plain: (plainBecause: string) => F },
): F {
  const { chatTemplate, bosText, eosText } = info;
  if (chatTemplate.trim() === '') return plain('The model has no chat template, so a plain prompt is used.');
  const key = JSON.stringify([chatTemplate, bosText, eosText, ...what]);
  const known = rendered.get(key);
  if (known) return known as F;
  try {
    const frame = render();
    if (frame) return kept(key, info, frame);
    return plain("The model's chat template does not keep the message as it is, so a plain prompt is used.");
  } catch (error) {
    const why = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
    return plain(`The model's chat template cannot be rendered (${why}), so a plain prompt is used.`);
  }
}

function kept<F extends ConversationFrame | MessagesFrame>(
  key: string,
  { chatTemplate }: TemplateInfo,
  frame: F,
): F {
  if (TELLS_TIME.test(chatTemplate)) return frame;
  rendered.set(key, frame);
  const [oldest] = rendered.keys();
  if (rendered.size > MOST_RENDERED && oldest !== undefined) rendered.delete(oldest);
  return frame;
}

/**
 * With the system prompt as a separate message; where the template rejects or drops that, or moves it from turn to turn, at the beginning
 * of the first question. undefined when the template does not keep messages as they are.
 */
function turnTexts(
  info: TemplateInfo,
  { turns, systemPrompt = '', think = false }: FrameRequest,
): string[] | undefined {
  const wanted = systemPrompt.trim();
  const holes = turns * HOLES_PER_TURN - 1;
  if (wanted === '') return firstThatKeeps(info, [turnMessages(turns, '')], { think, holes });
  // Templates read the content of a system message: it is rendered as text, not as a placeholder.
  const edged = SYSTEM_EDGE + wanted.replaceAll(SYSTEM_EDGE, '') + SYSTEM_EDGE;
  const apart: HoledMessage = { role: 'system', content: [edged] };
  const ways = [[apart, ...turnMessages(turns, '')], turnMessages(turns, `${edged}\n\n`)];
  return firstThatKeeps(info, ways, { think, holes, edged: true });
}

/** Documents, question, answer: the last turn has no answer yet. */
const HOLES_PER_TURN = 3;

function turnMessages(turns: number, head: string): HoledMessage[] {
  return Array.from({ length: turns }, (_, turn): HoledMessage[] => {
    const hole = turn * HOLES_PER_TURN;
    const content = [turn === 0 ? head : '', hole, QUESTION_MARK, hole + 1];
    const asked: HoledMessage = { role: 'user', content };
    return turn + 1 < turns ? [asked, { role: 'assistant', content: [hole + 2] }] : [asked];
  }).flat();
}

/** Prepends a system message to the user's next message, and merges consecutive messages of one role. */
function folded(messages: readonly HoledMessage[]): HoledMessage[] {
  const all: HoledMessage[] = [];
  let before: Role | undefined;
  for (const { role, content } of messages) {
    const asUser = role === 'system' ? 'user' : role;
    const last = all.at(-1);
    if (last && asUser === before)
      all[all.length - 1] = { role: asUser, content: [...last.content, '\n\n', ...content] };
    else all.push({ role: asUser, content });
    before = asUser;
  }
  return all;
}

/** The text before a system prompt, the prompt, and the text after it. */
const EDGED_PIECES = 3;

interface Kept {
  think: boolean;
  holes: number;
  /** Whether a system prompt must be in the text before the first placeholder. */
  edged?: boolean;
}

/** The texts around placeholders, from the first variant that the template accepts; throws its error for the last variant. */
function firstThatKeeps(
  info: TemplateInfo,
  ways: readonly (readonly HoledMessage[])[],
  { think, holes, edged = false }: Kept,
): string[] | undefined {
  for (const [i, messages] of ways.entries()) {
    const isLast = i === ways.length - 1;
    try {
      const text = renderInTime(info, messages, think);
      const texts = text.length > MAX_FRAME_UNITS ? undefined : splitAtHoles(text, holes);
      if (texts && (!edged || texts[0]?.split(SYSTEM_EDGE).length === EDGED_PIECES)) return texts;
    } catch (error) {
      if (isLast || endless.has(info.chatTemplate)) throw error;
    }
  }
  return undefined;
}

function hole(number: number): string {
  const digits = [Math.floor(number / DIGITS), number % DIGITS];
  return `\uE000${String.fromCharCode(...digits.map((digit) => FIRST_DIGIT + digit))}\uE000`;
}

function render(info: TemplateInfo, messages: readonly HoledMessage[], think: boolean): string {
  if (parsed?.source !== info.chatTemplate)
    parsed = { source: info.chatTemplate, template: new Template(info.chatTemplate) };
  return renderBounded(parsed.template, {
    messages: messages.map(({ role, content }) => ({
      role,
      content: content.map((piece) => (typeof piece === 'number' ? hole(piece) : piece)).join(''),
    })),
    add_generation_prompt: true,
    bos_token: info.bosText,
    eos_token: info.eosText,
    // The variable's names in model families: Qwen 3, SmolLM 3 and GLM; Granite; gpt-oss, which always thinks, but more or less.
    enable_thinking: think,
    thinking: think,
    reasoning_effort: think ? 'medium' : 'low',
  });
}

/** Renders synchronously, with a time limit: V8 can only interrupt code that was started as a script. */
function renderInTime(info: TemplateInfo, messages: readonly HoledMessage[], think: boolean): string {
  const tooLong = new Error('it timed out');
  if (endless.has(info.chatTemplate)) throw tooLong;
  const work = (): string => render(info, messages, think);
  try {
    timed.context.work = work;
    return timed.script.runInContext(timed.context, { timeout: MAX_RENDER_MS }) as string;
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
    endless.add(info.chatTemplate);
    throw tooLong;
  }
}

/** undefined when a placeholder is missing, duplicated or out of order. */
function splitAtHoles(text: string, holes: number): string[] | undefined {
  const pieces = text.split(HOLE); // text, digit, digit, text, digit, digit, …, text
  const found = pieces.flatMap((piece, i) =>
    i % 3 === 1 ? [`\uE000${piece}${pieces[i + 1] ?? ''}\uE000`] : [],
  );
  const wanted = Array.from({ length: holes }, (_, i) => hole(i));
  return found.join('') === wanted.join('') ? pieces.filter((_, i) => i % 3 === 0) : undefined;
}

/**
 * Puts the same text before every answer as when it was written: templates render past answers slightly differently (after a space), but
 * the sampled tokens continue the former.
 */
function splitIntoTurns(texts: readonly string[], turns: number): TurnFrame[] {
  return Array.from({ length: turns }, (_, turn) => {
    const [before = '', between = '', answered = ''] = texts.slice(turn * HOLES_PER_TURN);
    return { before, between, after: texts.at(-1) ?? '', answered };
  });
}

function plainTurns(systemPrompt: string, turns: number): TurnFrame[] {
  const head = systemPrompt === '' ? '' : `${systemPrompt}\n\n`;
  return Array.from({ length: turns }, (_, turn) => ({
    before: turn === 0 ? head : '\n\n',
    between: QUESTION_MARK,
    after: '\nAnswer:',
    answered: '\nAnswer:',
  }));
}

const PLAIN_NAMES: Record<Role, string> = { system: '', user: 'User: ', assistant: 'Assistant: ' };

function plainTexts(roles: readonly Role[]): string[] {
  const before = roles.map((role, i) => (i === 0 ? '' : '\n\n') + PLAIN_NAMES[role]);
  return [...before, '\n\nAssistant:'];
}
