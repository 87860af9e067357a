import { useChatState, type Attachment } from '../chat-state.ts';
import type { ConversationOptions } from '../../../../src-shared/contract/chat.ts';
import type { DocumentInfo } from '../../../../src-shared/contract/libraries.ts';
import { useCall } from '../../../client/context.tsx';
import { scopeState, type ScopeState } from './scope.ts';

const NONE: readonly Attachment[] = [];

export interface ShownScope extends ScopeState {
  attachments: readonly Attachment[];
  /** The existing documents of the scope; undefined until known. */
  documents: readonly DocumentInfo[] | undefined;
  /** Whether the core has reported their state. */
  known: boolean;
}

/** A conversation's scope and its state. */
export function useScope(stateKey: string, { scope }: ConversationOptions): ShownScope {
  const attachments = useChatState((state) => state.attachments[stateKey] ?? NONE);
  const ids = scope.documentIds;
  const asked = ids.length > 0;
  const { data, error, isPlaceholderData } = useCall(
    'documents.some',
    { ids },
    { enabled: asked, keepPrevious: true },
  );
  const documents = asked ? data : undefined;
  const known = !asked || error !== null || (data !== undefined && !isPlaceholderData);
  return { attachments, documents, known, ...scopeState(scope, known ? documents : undefined, attachments) };
}
