import { create } from 'zustand';
import { createJSONStorage, persist } from 'zustand/middleware';
import type { ConversationOptions } from '../../../src-shared/contract/chat.ts';
import type { Failure } from '../../../src-shared/contract/common.ts';
import type { ShownFailure } from '../../i18n/failures.ts';

/** Stands for the conversation that its first question will make. */
export const NEW = 'new';

/** A question that was sent and is not kept by the core yet. */
export interface Pending {
  text: string;
  failure: Failure | null;
}

/** Files on their way into a library, to be asked about. */
export interface Attachment {
  id: number;
  name: string;
  /** null: still on its way. */
  failure: ShownFailure | null;
}

interface ChatState {
  /** What stands in the composer, by conversation. */
  drafts: Readonly<Record<string, string>>;
  /** Questions that are sent as soon as they can be, by conversation. */
  queued: Readonly<Record<string, string | undefined>>;
  attachments: Readonly<Record<string, readonly Attachment[]>>;
  pending: Readonly<Record<string, Pending | undefined>>;
  /** Options of the conversation that is not made yet. */
  newOptions: ConversationOptions;
  /** The answer whose report is open, beside its own conversation only. */
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

/** Drafts outlive a reload of the page, as after a restart of the core. */
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

/** A conversation has its id now: what was written for it meanwhile goes along. */
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

export function setPending(key: string, pending: Pending | undefined): void {
  useChatState.setState((state) => ({ pending: { ...state.pending, [key]: pending } }));
}

export function toggleReport(conversationId: string, answerId: string): void {
  useChatState.setState(({ report }) => ({
    report: report?.answerId === answerId ? null : { conversationId, answerId },
  }));
}

interface ChatLayout {
  sidebar: boolean;
  /** Pixels. */
  reportWidth: number;
  reportWide: boolean;
}

/** How the screen is arranged; kept from visit to visit. */
export const useChatLayout = create<ChatLayout>()(
  persist((): ChatLayout => ({ sidebar: true, reportWidth: 560, reportWide: false }), {
    name: 'kvasir-chat-layout',
  }),
);
