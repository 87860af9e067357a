import { create } from 'zustand';
import { createJSONStorage, persist } from 'zustand/middleware';
import type { ConversationOptions } from '../../../src-shared/contract/chat.ts';
import type { Failure } from '../../../src-shared/contract/common.ts';
import type { ShownFailure } from '../../i18n/failures.ts';

/** Key of the conversation that the first question will create. */
export const NEW = 'new';

/** A question that was sent and that the core has not stored yet. */
export interface PendingQuestion {
  text: string;
  failure: Failure | null;
}

/** Files being added to a library, to be asked about. */
export interface Attachment {
  id: number;
  name: string;
  /** null: still being sent. */
  failure: ShownFailure | null;
}

interface ChatState {
  /** Draft text, by conversation. */
  drafts: Readonly<Record<string, string>>;
  /** Queued questions, by conversation. */
  queued: Readonly<Record<string, string | undefined>>;
  attachments: Readonly<Record<string, readonly Attachment[]>>;
  pending: Readonly<Record<string, PendingQuestion | undefined>>;
  /** Options of the conversation that does not exist yet. */
  newOptions: ConversationOptions;
  /** The answer whose report is open; shown only in its own conversation. */
  report: { conversationId: string; answerId: string } | null;
  helpOpen: boolean;
}

export const NO_OPTIONS: ConversationOptions = { scope: { libraryIds: [], documentIds: [] } };

const NOTHING = {
  drafts: {},
  queued: {},
  attachments: {},
  pending: {},
  newOptions: NO_OPTIONS,
  report: null,
  helpOpen: false,
};

/** Drafts and queued questions survive a reload of the page; useKeptDrafts also stores drafts in the core. */
export const useChatState = create<ChatState>()(
  persist((): ChatState => NOTHING, {
    name: 'kvasir-drafts',
    storage: createJSONStorage(() => sessionStorage),
    partialize: ({ drafts, queued }) => ({ drafts, queued }),
  }),
);

export function setDraft(key: string, text: string): void {
  useChatState.setState(({ drafts }) => ({ drafts: { ...drafts, [key]: text } }));
}

export function setQueued(key: string, text: string | undefined): void {
  useChatState.setState(({ queued }) => ({ queued: { ...queued, [key]: text } }));
}

/** The new conversation has an id: moves its draft and queue to that id. */
export function moveComposer(from: string, to: string): void {
  useChatState.setState(({ drafts, queued }) => ({
    drafts: { ...drafts, [from]: '', [to]: drafts[from] ?? '' },
    queued: { ...queued, [from]: undefined, [to]: queued[from] },
  }));
}

export function setAttachments(
  key: string,
  change: (attachments: readonly Attachment[]) => readonly Attachment[],
): void {
  useChatState.setState(({ attachments }) => ({
    attachments: { ...attachments, [key]: change(attachments[key] ?? []) },
  }));
}

export function setPending(key: string, pending: PendingQuestion | undefined): void {
  useChatState.setState((state) => ({ pending: { ...state.pending, [key]: pending } }));
}

export function toggleReport(conversationId: string, answerId: string): void {
  useChatState.setState(({ report }) => ({
    report: report?.answerId === answerId ? null : { conversationId, answerId },
  }));
}

interface ChatLayout {
  sidebar: boolean;
  /** In pixels. */
  reportWidth: number;
  reportWide: boolean;
}

/** Layout of the screen, persisted. */
export const useChatLayout = create<ChatLayout>()(
  persist((): ChatLayout => ({ sidebar: true, reportWidth: 560, reportWide: false }), {
    name: 'kvasir-chat-layout',
  }),
);
