import { conversation } from './ask.ts';
import type { NamedModel } from './named-model.ts';
import { backendOf } from './backends/backend-of.ts';
import type { AnswerChoices } from './choices.ts';
import { findPassages, type FoundPassage, type Passages } from './passages.ts';

/** Reason of a passage that is included because its whole document is. */
const WHOLE_DOCUMENT = 'whole-document';

/** What has to fit into the context together with the passages. */
export interface WholeRequest {
  model: NamedModel['model'];
  question: string;
  choices: AnswerChoices;
}

/**
 * Every passage of the documents that a question is restricted to, in document order, if all of them fit the context together with the
 * question and its answer: there is no search then, so that even "What is this about?" is answered. undefined when they do not fit, exceed
 * the requested number of passages, or have no chunks yet.
 */
export function wholeDocuments(
  documentIds: readonly string[],
  { model, question, choices }: WholeRequest,
  passages: Passages,
): FoundPassage[] | undefined {
  if (documentIds.length === 0) return undefined;
  const { contextTokens, topK = Infinity } = choices;
  const ids = passages.whole(documentIds, contextTokens);
  if (!ids || ids.length > topK) return undefined;
  const chosen = ids.map((chunkId) => ({ chunkId, score: 1, reason: WHOLE_DOCUMENT, highlights: [] }));
  const found = findPassages(chosen, passages);
  const { leftOut } = backendOf(model).layOut(conversation(question, found, choices));
  return leftOut.length === 0 ? found : undefined;
}
