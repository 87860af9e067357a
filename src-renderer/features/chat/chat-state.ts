import { create } from 'zustand';
import { createJSONStorage, persist } from 'zustand/middleware';
import type { ConversationOptions } from '../../../src-shared/contract/chat.ts';
import type { Project } from '../../../src-shared/contract/projects.ts';
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
  /** Its project; null: none. */
  newProjectId: string | null;
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
  newProjectId: null,
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
  /** Ids of projects whose conversations are not listed. */
  closedProjects: readonly string[];
}

/** Lists the conversations of a project, or not. */
export function setProjectOpen(id: string, open: boolean): void {
  useChatLayout.setState(({ closedProjects }) => {
    const others = closedProjects.filter((each) => each !== id);
    return { closedProjects: open ? others : [...others, id] };
  });
}

/** Starts a conversation with the project's scope and options, or with no scope. */
export function startIn(project?: Project): void {
  useChatState.setState(({ newOptions, newProjectId }) => ({
    newProjectId: project?.id ?? null,
    newOptions: project?.options ?? (newProjectId === null ? { ...newOptions, ...NO_OPTIONS } : NO_OPTIONS),
  }));
}

/** Layout of the screen, persisted. */
export const useChatLayout = create<ChatLayout>()(
  persist((): ChatLayout => ({ sidebar: true, reportWidth: 560, reportWide: false, closedProjects: [] }), {
    name: 'kvasir-chat-layout',
  }),
);
