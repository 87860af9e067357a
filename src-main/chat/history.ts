import type { Citation } from '../../src-shared/contract/chat.ts';
import type { PastTurn } from '../answering/ask.ts';
import type { PromptChunk } from '../answering/passages.ts';
import type { ChatModel, TokensWithLead } from '../fusion/model.ts';
import type { MessageStore } from './messages.ts';
import type { MessageRecord } from './records.ts';

/** The earlier part of a conversation. */
interface History {
  /** The turns that may still be in the context, oldest first. */
  turns: PastTurn[];
  /** How many older ones were dropped permanently. */
  turnsLeftOut: number;
}

/**
 * The turns before a question. Turns of the model in use have the token ids that were in its context; answers of another model are
 * tokenised from their text. Questions without an answer are not turns. Turns that were dropped before stay dropped; their content is not
 * even read.
 */
export function historyBefore(
  question: Pick<MessageRecord, 'parentId'>,
  messages: MessageStore,
  model: Pick<ChatModel, 'info' | 'tokenize'>,
): History {
  const branch = question.parentId === null ? [] : messages.branch(question.parentId);
  const answers = [...branch.entries()].filter(([, { role, text }]) => role === 'assistant' && text !== '');
  const turns: PastTurn[] = [];
  let turnsLeftOut: number | undefined;
  for (let turn = answers.length - 1; turn >= (turnsLeftOut ?? 0); turn--) {
    const [i, answer] = answers[turn] as [number, MessageRecord];
    const context = messages.context(answer.id);
    turnsLeftOut ??= context?.turnsLeftOut; // according to the newest turn that records it
    if (turn < (turnsLeftOut ?? 0)) break;
    const ours = context?.fingerprint === model.info.fingerprint;
    const chunks = (context?.chunks ?? []).map(({ citation, tokens, lead }) => {
      const cited = answer.citations[citation];
      const ids = ours ? Int32Array.from(tokens) : model.tokenize(cited?.text ?? '');
      return chunkOf(cited, { tokens: ids, lead: Int32Array.from(ours ? lead : []) });
    });
    // Of an answer that called tools, later turns have the text alone.
    const isWhole = answer.calls.length === 0;
    const sampled = ours && isWhole ? context.answer?.slice(context.tokensBefore) : undefined;
    turns.unshift({
      question: branch[i - 1]?.text ?? '',
      chunks: chunks.filter(({ tokens }) => tokens.length > 0),
      // As written, so that a server's prefix cache finds it.
      text: (ours && isWhole ? context.written?.text : undefined) ?? answer.text,
      answer: sampled ? Int32Array.from(sampled) : model.tokenize(answer.text),
      thought: ours && isWhole && context.tokensBefore > 0,
    });
  }
  return { turns, turnsLeftOut: turnsLeftOut ?? 0 };
}

/** A passage that was cited, with the token ids that were in a context. */
export function chunkOf(cited: Citation | undefined, ids: TokensWithLead): PromptChunk {
  if (!cited) return { ...ids, text: '', label: '', score: 0 };
  const { path, documentId, libraryId, title, ordinal, text } = cited;
  const source = { document: path, documentId, libraryId, title, ordinal };
  return { ...ids, text, label: path, score: 0, source };
}
