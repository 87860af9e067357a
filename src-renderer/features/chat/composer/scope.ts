import type { ConversationOptions } from '../../../../src-shared/contract/chat.ts';
import { isSearchable, type DocumentInfo } from '../../../../src-shared/contract/libraries.ts';
import type { Attachment } from '../chat-state.ts';

/** A conversation's scope is either documents or libraries: the kind chosen last applies. */
export function withDocuments(options: ConversationOptions, ids: readonly string[]): ConversationOptions {
  const documentIds = [...new Set([...options.scope.documentIds, ...ids])];
  return { ...options, scope: { documentIds, libraryIds: [] } };
}

export function withLibrary(options: ConversationOptions, id: string): ConversationOptions {
  const libraryIds = [...new Set([...options.scope.libraryIds, id])];
  return { ...options, scope: { documentIds: [], libraryIds } };
}

export function without(options: ConversationOptions, id: string): ConversationOptions {
  const { documentIds, libraryIds } = options.scope;
  const scope = {
    documentIds: documentIds.filter((each) => each !== id),
    libraryIds: libraryIds.filter((each) => each !== id),
  };
  return { ...options, scope };
}

/** Whether the scope can be asked about. */
export interface ScopeState {
  /** Names of documents that are not searchable yet; a question waits for them. */
  reading: string[];
  /** Nothing to ask about: every document has failed or was removed. */
  nothing: boolean;
}

/** `documents`: the existing documents of the scope; undefined until known. */
export function scopeState(
  { documentIds }: ConversationOptions['scope'],
  documents: readonly DocumentInfo[] | undefined,
  attachments: readonly Attachment[],
): ScopeState {
  const coming = attachments.filter(({ failure }) => failure === null).map(({ name }) => name);
  const known = documents ?? [];
  const working = known.filter((each) => !isSearchable(each) && each.phase !== 'failed');
  const reading = [...coming, ...working.map(({ title }) => title)];
  const restricted = documentIds.length > 0;
  const nothing =
    reading.length === 0 &&
    restricted &&
    documents !== undefined &&
    !known.some((each) => isSearchable(each));
  return { reading, nothing };
}
