import { useEffect } from 'react';
import { useQueryClient } from '@tanstack/react-query';
import i18next from 'i18next';
import { create } from 'zustand';
import type { Conversation } from '../../../../src-shared/contract/chat.ts';
import type { Client } from '../../../client/client.ts';
import { useClient } from '../../../client/context.tsx';
import {
  isAsking,
  withEvents,
  withMessages,
  type AnswerEvent,
  type LiveAnswer,
  type LiveAnswers,
} from './live-answers.ts';

const useLiveStore = create<{ answers: LiveAnswers }>(() => ({ answers: new Map() }));

const attached = new WeakSet<Client>();

/**
 * Listens to answers being generated, from the first time the chat is shown until the window closes, so that nothing is
 * missed while another screen is shown. Events within a frame are rendered together.
 */
export function useLiveFeed(): void {
  const client = useClient();
  const queries = useQueryClient();
  useEffect(() => {
    if (attached.has(client)) return;
    attached.add(client);
    const stale = (id: string) => void queries.invalidateQueries({ queryKey: ['chat.get', { id }] });
    listen(client, stale);
    useLiveStore.subscribe(titleWindow);
  }, [client, queries]);
}

/** The window's title says when an answer waits for a permission, on whatever screen. */
function titleWindow({ answers }: { answers: LiveAnswers }): void {
  const asks = [...answers.values()].some(isAsking);
  document.title = [...(asks ? [i18next.t('chat:calls.state.asking')] : []), i18next.t('appName')].join(
    ' – ',
  );
}

function listen(client: Client, onStale: (conversationId: string) => void): void {
  let events: AnswerEvent[] = [];
  const flush = (): void => {
    const arrived = events;
    events = [];
    const before = useLiveStore.getState().answers;
    const answers = withEvents(before, arrived);
    useLiveStore.setState({ answers });
    for (const id of new Set(arrived.map(({ payload }) => payload.answerId))) {
      const answer = answers.get(id);
      const old = before.get(id);
      if (!answer) continue;
      const gap = answer.incomplete && !old?.incomplete;
      if (gap || (answer.ended && !old?.ended)) onStale(answer.conversationId);
    }
  };
  const take = (event: AnswerEvent): void => {
    if (events.length === 0) requestAnimationFrame(flush);
    events.push(event);
  };
  client.on('chat.progress', (payload) => take({ topic: 'chat.progress', payload }));
  client.on('chat.citations', (payload) => take({ topic: 'chat.citations', payload }));
  client.on('chat.notice', (payload) => take({ topic: 'chat.notice', payload }));
  client.on('chat.text', (payload) => take({ topic: 'chat.text', payload }));
  client.on('chat.call', (payload) => take({ topic: 'chat.call', payload }));
  client.on('chat.sentence', (payload) => take({ topic: 'chat.sentence', payload }));
  client.on('chat.thinking', (payload) => take({ topic: 'chat.thinking', payload }));
  client.on('chat.done', (payload) => take({ topic: 'chat.done', payload }));
}

/** Keeps events and the core's copy of a conversation consistent. */
export function useReconciled(conversation: Conversation | undefined): void {
  useEffect(() => {
    if (!conversation) return;
    useLiveStore.setState(({ answers }) => ({
      answers: withMessages(answers, conversation.id, conversation.messages),
    }));
  }, [conversation]);
}

export function useLiveAnswer(answerId: string): LiveAnswer | undefined {
  return useLiveStore(({ answers }) => answers.get(answerId));
}

/** How an answer ended, once events say so. */
export function useEnded(answerId: string | undefined): LiveAnswer['ended'] {
  return useLiveStore(({ answers }) => answers.get(answerId ?? '')?.ended ?? null);
}

/** Whether an answer of the conversation waits for a permission. */
export function useAsking(conversationId: string): boolean {
  return useLiveStore(({ answers }) =>
    [...answers.values()].some((answer) => answer.conversationId === conversationId && isAsking(answer)),
  );
}
