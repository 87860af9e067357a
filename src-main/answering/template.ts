import { createContext, Script } from 'node:vm';
import type { Template } from '@huggingface/jinja';
import type { Failure } from '../../src-shared/contract/common.ts';
import { KvasirError } from '../../src-shared/errors.ts';
import type { ModelInfo } from '../engine/engine.ts';
import { failureOf } from '../platform/failure.ts';
import { parseTemplate, renderBounded } from './bounded-jinja.ts';
import { callWriterOf } from './call-texts.ts';
import {
  conversationForms,
  edged,
  guarded,
  splitAtHoles,
  SYSTEM_EDGE,
  templateMessages,
  type MessageCalls,
  type MessageForm,
  type Role,
  type TemplateMessage,
} from './template-messages.ts';
import { declaration, type Tool } from './tools.ts';

type TemplateInfo = Pick<ModelInfo, 'chatTemplate' | 'bosText' | 'eosText'>;

/** A message to render around: with a placeholder for its content, unless the template is to read its text. */
export interface FrameMessage extends MessageCalls {
  role: Role;
  text?: string | undefined;
}

interface FrameOptions {
  /** Whether to think before answering, where the template offers the choice. */
  think?: boolean | undefined;
  /** The form where the template cannot be used: question and answer in turn, else each message under its role. */
  turns?: boolean | undefined;
  /** Declared in the prompt. */
  tools?: readonly Tool[] | undefined;
}

/** How a template is rendered. */
interface Rendering extends MessageForm {
  think: boolean;
  tools?: readonly Tool[] | undefined;
}

/**
 * Messages around their placeholders: `texts[i]` precedes placeholder i, the last text follows all of them. Text between two SYSTEM_EDGE is
 * plain text: that of a message with a text, in the text that it precedes, and texts of tools that look like control tokens.
 */
export interface MessagesFrame {
  /** From the model's template: its control tokens are intended. */
  texts: string[];
  /** Why the model's own template could not be used, in one sentence. */
  plainBecause: string | undefined;
}

const BASE_MODEL =
  'The model has no chat template, so a plain prompt is used. It is a base model, which continues text: for questions, choose an instruct or chat version.';

/** The text between documents and question: the form the demo model was trained on. */
export const QUESTION_MARK = 'Question: ';

/** Templates come from untrusted models and may loop forever. Valid ones take a few milliseconds for all their forms. */
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
const rendered = new Map<string, MessagesFrame>();
const MOST_RENDERED = 4;
/** Templates that insert the current time render differently each time. */
const TELLS_TIME = /strftime_now/;

/**
 * Renders the model's chat template around placeholders for the content of messages, so that passages, questions and answers can be
 * tokenised separately: nothing in a document can then become a control token, and an answer keeps exactly the tokens that were sampled.
 * Where the template rejects or drops messages as they are given, it gets them in other forms (see conversationForms). Falls back to a plain prompt when the model has no template or it cannot be rendered in time.
 */
export function messagesFrame(
  info: TemplateInfo,
  messages: readonly FrameMessage[],
  { think = false, turns = false, tools = [] }: FrameOptions = {},
): MessagesFrame {
  const plain = (plainBecause: string): MessagesFrame => ({
    texts: turns ? plainTurns(messages) : plainTexts(messages),
    plainBecause,
  });
  const { chatTemplate, bosText, eosText } = info;
  if (chatTemplate.trim() === '') return plain(BASE_MODEL);
  const what = messages.map(({ role, text, calls, callId }) => [role, text, calls, callId]);
  const key = JSON.stringify([chatTemplate, bosText, eosText, what, think, tools]);
  const known = rendered.get(key);
  if (known) return known;
  try {
    const texts = firstThatKeeps(info, messages, { think, tools });
    if (texts) return kept(key, info, { texts, plainBecause: undefined });
    return plain("The model's chat template does not keep the message as it is, so a plain prompt is used.");
  } catch (error) {
    const why = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
    return plain(`The model's chat template cannot be rendered (${why}), so a plain prompt is used.`);
  }
}

/** Why the model's own template cannot be used, tested with a first question; undefined when it can, or when there is none. */
export function templateFailure(info: TemplateInfo & Pick<ModelInfo, 'name'>): Failure | undefined {
  const { plainBecause } = messagesFrame(info, [{ role: 'user' }]);
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

function kept(key: string, { chatTemplate }: TemplateInfo, frame: MessagesFrame): MessagesFrame {
  if (TELLS_TIME.test(chatTemplate)) return frame;
  rendered.set(key, frame);
  const [oldest] = rendered.keys();
  if (rendered.size > MOST_RENDERED && oldest !== undefined) rendered.delete(oldest);
  return frame;
}

/** The text before a text that the template reads, that text, and the text after it. */
const EDGED_PIECES = 3;

/** How Python begins a dictionary, and how a list of content: what a template writes that expects a text. */
const DICTIONARY = "{'";
const CONTENT_LIST = /\{["']type["']: ["']text["']/;

const GIGACHAT_TOKENS = ['<|role_sep|>', '<|message_sep|>', '[', ']'];

const CALL_FORMS = [false, true].flatMap((textArguments) =>
  (['', null] as const).map((noContent) => ({ textArguments, noContent })),
);

/** The texts around placeholders, in the first form that the template keeps; throws its first error where it keeps none. */
function firstThatKeeps(
  info: TemplateInfo,
  messages: readonly FrameMessage[],
  rendering: Rendering,
): string[] | undefined {
  let holes = 0;
  const asGiven = messages.map(({ text, ...message }): TemplateMessage => {
    return { ...message, content: [text === undefined ? holes++ : edged(text)] };
  });
  const isEdged = messages.some(({ text = '' }) => text !== '');
  const calls = messages.some((message) => message.calls);
  const writtenCalls = callWriterOf(info.chatTemplate);
  const callForms = [...CALL_FORMS, ...(writtenCalls ? [{ writtenCalls }] : [])];
  const forms = conversationForms(asGiven).flatMap((form) =>
    [false, true].flatMap((listContent) =>
      (calls ? callForms : [{}]).map((how) => ({ form, listContent, ...rendering, ...how })),
    ),
  );
  const until = performance.now() + MAX_RENDER_MS;
  let failure: Error | undefined;
  for (const { form, ...how } of forms) {
    try {
      const text = renderInTime(info, form, how, until);
      const isText = !(how.listContent && CONTENT_LIST.test(text)) && text.length <= MAX_FRAME_UNITS;
      const texts = isText ? splitAtHoles(text, holes) : undefined;
      const isKept = !isEdged || (texts?.[0]?.split(SYSTEM_EDGE).length ?? 0) >= EDGED_PIECES;
      if (texts && isKept && !(calls && losesCalls(text, info, form, how, until))) return texts;
    } catch (error) {
      if (endless.has(info.chatTemplate)) throw error;
      if (!how.listContent) failure ??= error instanceof Error ? error : new Error(String(error));
    }
  }
  if (failure) throw failure;
  return undefined;
}

/** Whether a template drops calls, or shows them as objects. */
function losesCalls(
  text: string,
  info: TemplateInfo,
  form: readonly TemplateMessage[],
  how: Rendering,
  until: number,
): boolean {
  try {
    const without = renderInTime(info, form, { ...how, withoutCalls: true }, until);
    return without === text || (text.includes(DICTIONARY) && !without.includes(DICTIONARY));
  } catch {
    return false; // it expects a call before a result
  }
}

function render(info: TemplateInfo, messages: readonly TemplateMessage[], rendering: Rendering): string {
  const { think, tools = [] } = rendering;
  if (parsed?.source !== info.chatTemplate)
    parsed = { source: info.chatTemplate, template: parseTemplate(info.chatTemplate) };
  const declarations = tools.length > 0 ? guarded(tools.map(declaration)) : undefined;
  return renderBounded(parsed.template, {
    messages: templateMessages(messages, rendering),
    // SmolLM 3 has tools under another name.
    ...(declarations !== undefined && { tools: declarations, xml_tools: declarations }),
    add_generation_prompt: true,
    bos_token: info.bosText,
    eos_token: info.eosText,
    // The variable's names in model families: Qwen 3, SmolLM 3 and GLM; Granite; gpt-oss, which always thinks, but more or less.
    enable_thinking: think,
    thinking: think,
    reasoning_effort: think ? 'medium' : 'low',
    // GigaChat's template takes them from its tokenizer's settings, which GGUF files lack.
    additional_special_tokens: GIGACHAT_TOKENS,
  });
}

/** Renders synchronously, with a time limit: V8 can only interrupt code that was started as a script. */
function renderInTime(
  info: TemplateInfo,
  messages: readonly TemplateMessage[],
  rendering: Rendering,
  until: number,
): string {
  const tooLong = new Error('it timed out');
  if (endless.has(info.chatTemplate)) throw tooLong;
  const work = (): string => render(info, messages, rendering);
  try {
    timed.context.work = work;
    const timeout = Math.max(1, Math.ceil(until - performance.now()));
    return timed.script.runInContext(timed.context, { timeout }) as string;
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
    endless.add(info.chatTemplate);
    throw tooLong;
  }
}

/** Question and answer in turn, as the demo model was trained. */
function plainTurns(messages: readonly FrameMessage[]): string[] {
  const texts: string[] = [];
  let head = '';
  for (const { role, text } of messages) {
    if (text !== undefined) head = `${text}\n\n`;
    else if (role === 'assistant') texts.push(PLAIN_ANSWER);
    else texts.push(texts.length === 0 ? head : '\n\n');
  }
  return [...texts, PLAIN_ANSWER];
}

const PLAIN_ANSWER = '\nAnswer:';

const PLAIN_NAMES: Record<Role, string> = {
  system: '',
  user: 'User: ',
  assistant: 'Assistant: ',
  tool: 'Result: ',
};

function plainTexts(messages: readonly FrameMessage[]): string[] {
  const before = messages.map(({ role }, i) => (i === 0 ? '' : '\n\n') + PLAIN_NAMES[role]);
  return [...before, '\n\nAssistant:'];
}
