import type { ComponentType, ReactNode } from 'react';

/** Parts that other features contribute to the chat. Features do not import one another, so the app passes these in. */
export interface ChatSlots {
  /** Shown in an empty conversation. */
  Welcome: ComponentType<{ onAsk: (question: string) => void }>;
  /** Shown below the first answer. */
  AfterFirstAnswer: ComponentType;
  /** The report on an answer's prompt; `controls` go into its title bar. */
  Report: ComponentType<{
    conversationId: string;
    answerId: string;
    onClose: () => void;
    controls: ReactNode;
  }>;
  /** Called when the core has accepted a question. */
  onSent: () => void;
}
