import { Template } from '@huggingface/jinja';
import type { ModelInfo } from '../engine/engine.ts';

/** A prompt with two holes: `before` + context + `between` + question + `after`. */
export interface PromptFrame {
  /** From the model's template: control tokens in it are meant. */
  before: string;
  /** Ours, inside the user's message. */
  between: string;
  after: string;
  /** Set when the model's own template could not be used: why, in one sentence. */
  plainBecause: string | undefined;
}

/** What stands between documents and question: the form the demo model was trained on. */
const QUESTION_MARK = 'Question: ';

/** Private-use characters: no template writes or trims them, and `upper`/`lower` filters leave them alone. */
const CONTEXT_HOLE = '\uE000\uE001\uE000';
const QUESTION_HOLE = '\uE000\uE002\uE000';

/**
 * Renders the model's chat template around placeholders for the documents and the question, so that both can be
 * tokenised apart from it: whatever a document says can then never become a control token. Falls back to a plain
 * prompt when the model has no template or it cannot be rendered.
 */
export function promptFrame(
  info: Pick<ModelInfo, 'chatTemplate' | 'bosText' | 'eosText'>,
  systemPrompt = '',
): PromptFrame {
  if (info.chatTemplate.trim() === '')
    return plainFrame('The model has no chat template, so a plain prompt is used.', systemPrompt);
  try {
    const rendered = render(info, systemPrompt);
    const [before, rest, ...moreContexts] = rendered.split(CONTEXT_HOLE);
    const [between, after, ...moreQuestions] = (rest ?? '').split(QUESTION_HOLE);
    if (
      before === undefined ||
      between === undefined ||
      after === undefined ||
      moreContexts.length + moreQuestions.length > 0
    ) {
      return plainFrame(
        "The model's chat template does not keep the message as it is, so a plain prompt is used.",
        systemPrompt,
      );
    }
    return { before, between, after, plainBecause: undefined };
  } catch (error) {
    const why = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
    return plainFrame(
      `The model's chat template cannot be rendered (${why}), so a plain prompt is used.`,
      systemPrompt,
    );
  }
}

function render(info: Pick<ModelInfo, 'chatTemplate' | 'bosText' | 'eosText'>, systemPrompt: string): string {
  const user = { role: 'user', content: CONTEXT_HOLE + QUESTION_MARK + QUESTION_HOLE };
  const system = systemPrompt === '' ? [] : [{ role: 'system', content: systemPrompt }];
  return new Template(info.chatTemplate).render({
    messages: [...system, user],
    add_generation_prompt: true,
    bos_token: info.bosText,
    eos_token: info.eosText,
  });
}

function plainFrame(plainBecause: string, systemPrompt: string): PromptFrame {
  const before = systemPrompt === '' ? '' : `${systemPrompt}\n\n`;
  return { before, between: QUESTION_MARK, after: '\nAnswer:', plainBecause };
}
