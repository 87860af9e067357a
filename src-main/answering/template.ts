import { createContext, Script } from 'node:vm';
import { Template } from '@huggingface/jinja';
import type { ModelInfo } from '../engine/engine.ts';

/** One turn of a conversation with its holes: `before` + documents + `between` + question + `after` + answer. */
interface TurnFrame {
  /** From the model's template: control tokens in it are meant. For the first turn, all that leads up to it. */
  before: string;
  /** Ours, inside the user's message. */
  between: string;
  /** Up to where an answer is written. */
  after: string;
  /** The same as templates show it later, for an answer whose thought is left out. */
  answered: string;
}

interface ConversationFrame {
  turns: TurnFrame[];
  /** Set when the model's own template could not be used: why, in one sentence. */
  plainBecause: string | undefined;
}

type TemplateInfo = Pick<ModelInfo, 'chatTemplate' | 'bosText' | 'eosText'>;

interface FrameRequest {
  /** How many questions, the last of them unanswered. */
  turns: number;
  systemPrompt?: string | undefined;
  /** Whether the model is to think before it answers, where its template leaves the choice. */
  think?: boolean | undefined;
}

/** Where a system prompt is put. */
type Place = 'system message' | 'first question';

/** What stands between documents and question: the form the demo model was trained on. */
const QUESTION_MARK = 'Question: ';

/**
 * Holes are private-use characters: no template writes or trims them, and `upper`/`lower` filters leave them alone.
 * Border, kind, number of the turn, border.
 */
const HOLE = /\uE000([\uE001-\uE003])([\uE010-\uF8FF])\uE000/u;
const KINDS = { documents: '\uE001', question: '\uE002', answer: '\uE003' };
const FIRST_TURN = 0xe010;
const MAX_TURNS = 0xf8ff - FIRST_TURN + 1;

/** Templates come with models from anywhere, and may have loops without end. Sound ones take a few milliseconds. */
const MAX_RENDER_MS = 2000;
/** That of the model in use. */
let parsed: { source: string; template: Template } | undefined;
/** Those that took longer: waited for once, not at every question. */
const endless = new Set<string>();
/** One for all renderings: each new context takes memory that comes back late. */
const timed = { script: new Script('work()'), context: createContext({}) };
/** UTF-16 units of a rendered frame, which holds no documents. */
const MAX_FRAME_UNITS = 2 * 1024 * 1024;

/** Frames by what they were rendered from, the latest last: a question asks for the frame that the one before had, or one turn more. */
const rendered = new Map<string, ConversationFrame>();
const MOST_RENDERED = 4;
/** Templates that tell the time say something else each time. */
const TELLS_TIME = /strftime_now/;

/**
 * Renders the model's chat template for a conversation around placeholders for documents, questions and answers, so that these
 * can be tokenised apart from it: whatever a document says can then never become a control token, and an answer stays the
 * very tokens that were sampled. Falls back to a plain prompt when the model has no template or it cannot be rendered in time.
 */
export function conversationFrame(
  info: TemplateInfo,
  { turns, systemPrompt = '', think = false }: FrameRequest,
): ConversationFrame {
  if (turns < 1 || turns > MAX_TURNS) throw new TypeError(`turns must be between 1 and ${MAX_TURNS}`);
  const plain = (plainBecause: string): ConversationFrame => ({
    turns: plainTurns(systemPrompt, turns),
    plainBecause,
  });
  if (info.chatTemplate.trim() === '')
    return plain('The model has no chat template, so a plain prompt is used.');
  const { chatTemplate, bosText, eosText } = info;
  const key = JSON.stringify([chatTemplate, bosText, eosText, systemPrompt, turns, think]);
  const known = rendered.get(key);
  if (known) return known;
  try {
    const frames = framesOf(info, { turns, systemPrompt, think });
    if (frames) return kept(key, info, { turns: frames, plainBecause: undefined });
    return plain("The model's chat template does not keep the message as it is, so a plain prompt is used.");
  } catch (error) {
    const why = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
    return plain(`The model's chat template cannot be rendered (${why}), so a plain prompt is used.`);
  }
}

/**
 * With the system prompt as a message of its own; where the template refuses or drops that, or has it move from turn to turn, at
 * the beginning of the first question. undefined when the template does not keep messages as they are.
 */
function framesOf(info: TemplateInfo, request: Required<FrameRequest>): TurnFrame[] | undefined {
  const wanted = request.systemPrompt?.trim() ?? '';
  const framesWith = (place: Place): TurnFrame[] | undefined => {
    const text = renderInTime(info, request, place);
    return text.length > MAX_FRAME_UNITS ? undefined : splitAtHoles(text, request.turns);
  };
  if (wanted === '') return framesWith('system message');
  try {
    const frames = framesWith('system message');
    if (frames?.[0]?.before.includes(wanted)) return frames;
  } catch (error) {
    if (endless.has(info.chatTemplate)) throw error;
  }
  return framesWith('first question');
}

function kept(key: string, { chatTemplate }: TemplateInfo, frame: ConversationFrame): ConversationFrame {
  if (TELLS_TIME.test(chatTemplate)) return frame;
  rendered.set(key, frame);
  const [oldest] = rendered.keys();
  if (rendered.size > MOST_RENDERED && oldest !== undefined) rendered.delete(oldest);
  return frame;
}

function hole(kind: keyof typeof KINDS, turn: number): string {
  return `\uE000${KINDS[kind]}${String.fromCharCode(FIRST_TURN + turn)}\uE000`;
}

function render(
  info: TemplateInfo,
  { systemPrompt = '', turns, think }: Required<FrameRequest>,
  place: Place,
): string {
  const apart = systemPrompt !== '' && place === 'system message';
  const messages = apart ? [{ role: 'system', content: systemPrompt }] : [];
  for (let turn = 0; turn < turns; turn++) {
    const head = turn === 0 && systemPrompt !== '' && !apart ? `${systemPrompt}\n\n` : '';
    const content = head + hole('documents', turn) + QUESTION_MARK + hole('question', turn);
    messages.push({ role: 'user', content });
    if (turn + 1 < turns) messages.push({ role: 'assistant', content: hole('answer', turn) });
  }
  if (parsed?.source !== info.chatTemplate)
    parsed = { source: info.chatTemplate, template: new Template(info.chatTemplate) };
  return parsed.template.render({
    messages,
    add_generation_prompt: true,
    bos_token: info.bosText,
    eos_token: info.eosText,
    // What families call it: Qwen 3, SmolLM 3 and GLM; Granite; gpt-oss, which always thinks, but more or less.
    enable_thinking: think,
    thinking: think,
    reasoning_effort: think ? 'medium' : 'low',
  });
}

/** Renders here and now, but not for long: V8 can only stop what was started as a script. */
function renderInTime(info: TemplateInfo, request: Required<FrameRequest>, place: Place): string {
  const tooLong = new Error('it does not come to an end');
  if (endless.has(info.chatTemplate)) throw tooLong;
  const work = (): string => render(info, request, place);
  try {
    timed.context.work = work;
    return timed.script.runInContext(timed.context, { timeout: MAX_RENDER_MS }) as string;
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
    endless.add(info.chatTemplate);
    throw tooLong;
  }
}

/**
 * undefined when a hole is missing, doubled or out of order. Before every answer stands what stood there when it was
 * written: templates show past answers a little differently (behind a space), but the tokens sampled go on from the former.
 */
function splitAtHoles(text: string, turns: number): TurnFrame[] | undefined {
  const pieces = text.split(HOLE); // text, kind, turn, text, kind, turn, …, text
  const texts = pieces.filter((_, i) => i % 3 === 0);
  const found = pieces.flatMap((piece, i) =>
    i % 3 === 1 ? [`\uE000${piece}${pieces[i + 1] ?? ''}\uE000`] : [],
  );
  const wanted = Array.from({ length: turns }, (_, turn) => [
    hole('documents', turn),
    hole('question', turn),
    ...(turn + 1 < turns ? [hole('answer', turn)] : []),
  ]).flat();
  if (found.join('') !== wanted.join('')) return undefined;
  return Array.from({ length: turns }, (_, turn) => {
    const [before = '', between = '', answered = ''] = texts.slice(turn * 3, turn * 3 + 3);
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
