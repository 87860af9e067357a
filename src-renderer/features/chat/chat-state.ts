import { create } from 'zustand';
import { createJSONStorage, persist } from 'zustand/middleware';
import type { ConversationOptions } from '../../../src-shared/contract/chat.ts';
import type { Failure } from '../../../src-shared/contract/common.ts';

/** Stands for the conversation that its first question will make. */
export const NEW = 'new';

/** A question that was sent and is not kept by the core yet. */
export interface Pending {
  text: string;
  failure: Failure | null;
}

interface ChatState {
  /** What stands in the composer, by conversation. */
  drafts: Readonly<Record<string, string>>;
  pending: Readonly<Record<string, Pending | undefined>>;
  /** Options of the conversation that is not made yet. */
  newOptions: ConversationOptions;
  /** The answer whose report is open, beside its own conversation only. */
  report: { conversationId: string; answerId: string } | null;
  helpOpen: boolean;
}

export const NO_OPTIONS: ConversationOptions = { scope: { libraryIds: [], documentIds: [] } };

/** Drafts outlive a reload of the page, as after a restart of the core. */
export const useChatState = create<ChatState>()(
  persist(
    (): ChatState => ({ drafts: {}, pending: {}, newOptions: NO_OPTIONS, report: null, helpOpen: false }),
    {
      name: 'kvasir-drafts',
      storage: createJSONStorage(() => sessionStorage),
      partialize: ({ drafts }) => ({ drafts }),
    },
  ),
);

export function setDraft(key: string, text: string): void {
  useChatState.setState(({ drafts }) => ({ drafts: { ...drafts, [key]: text } }));
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
