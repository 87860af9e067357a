import { useQueryClient, type QueryClient } from '@tanstack/react-query';
import { useLocation } from 'wouter';
import type { Conversation, Message } from '../../../src-shared/contract/chat.ts';
import type { InputOf, OutputOf } from '../../../src-shared/contract/contract.ts';
import { KvasirError } from '../../../src-shared/errors.ts';
import { useClient } from '../../client/context.tsx';
import { notifyFailure } from '../../ui/notify.tsx';
import {
  moveComposer,
  NEW,
  NO_OPTIONS,
  setAttachments,
  setDraft,
  setPending,
  useChatState,
} from './chat-state.ts';

type SendResult = OutputOf<'chat.send'>;

/** All actions that make the core generate an answer. The thread shows the question before the core confirms it. */
export function useAsk(conversationId: string | undefined, onSent?: () => void) {
  const client = useClient();
  const queries = useQueryClient();
  const [, navigate] = useLocation();

  const ask = async (text: string): Promise<void> => {
    const key = conversationId ?? NEW;
    setPending(key, { text, failure: null });
    setDraft(key, '');
    setAttachments(key, () => []);
    try {
      const id = conversationId ?? (await begin());
      const sent = await client.call('chat.send', { conversationId: id, text });
      const parentId = conversationOf(queries, id)?.leafId ?? null;
      show(queries, sent, { text, parentId });
      setPending(key, undefined);
      if (conversationId === undefined) {
        moveComposer(NEW, id);
        navigate(`/chat/${id}`);
      }
      onSent?.();
    } catch (error) {
      // The core has not accepted the question and may no longer know this window: the question returns to the composer.
      const lost = error instanceof KvasirError && error.code === 'CONNECTION_LOST';
      setPending(key, lost ? undefined : { text, failure: failureOf(error) });
      if (!lost) return;
      setDraft(key, text);
      notifyFailure(error);
    }
  };

  const begin = async (): Promise<string> => {
    const { newOptions: options, newProjectId: projectId } = useChatState.getState();
    const conversation = await client.call('chat.create', { options, projectId });
    queries.setQueryData(['chat.get', { id: conversation.id }], conversation);
    useChatState.setState({ newOptions: NO_OPTIONS, newProjectId: null });
    return conversation.id;
  };

  const again = async (
    message: Message,
    make: (id: string) => Promise<SendResult>,
    text: string,
  ): Promise<void> => {
    if (conversationId === undefined) return;
    try {
      show(queries, await make(conversationId), { text, parentId: message.parentId });
    } catch (error) {
      notifyFailure(error);
    }
  };

  return {
    ask,
    regenerate: (answer: Message, how: { mayGuess?: boolean; variety?: boolean } = {}) =>
      again(
        answer,
        (id) => client.call('chat.regenerate', { conversationId: id, answerId: answer.id, ...how }),
        '',
      ),
    goOn: async ({ id: answerId }: Message): Promise<void> => {
      if (conversationId === undefined) return;
      await client.call('chat.continue', { conversationId, answerId }).catch(notifyFailure);
    },
    edit: (question: Message, text: string) =>
      again(
        question,
        (id) => client.call('chat.edit', { conversationId: id, questionId: question.id, text }),
        text,
      ),
    decide: async (of: InputOf<'chat.decideCall'>): Promise<void> => {
      await client.call('chat.decideCall', of).catch(notifyFailure);
    },
    stop: () => {
      if (conversationId === undefined) return;
      client.call('chat.stop', { id: conversationId }).catch(notifyFailure);
    },
  };
}

export type AskActions = ReturnType<typeof useAsk>;

function conversationOf(queries: QueryClient, id: string): Conversation | undefined {
  return queries.getQueryData<Conversation>(['chat.get', { id }]);
}

/** Adds the question and an empty answer to the thread until the core's version arrives. */
function show(queries: QueryClient, sent: SendResult, asked: Pick<Message, 'text' | 'parentId'>): void {
  queries.setQueryData<Conversation>(['chat.get', { id: sent.conversationId }], (conversation) => {
    if (!conversation) return conversation;
    const has = (id: string): boolean => conversation.messages.some((message) => message.id === id);
    const added = [
      message({ id: sent.questionId, role: 'user', state: 'done', ...asked }),
      message({
        id: sent.answerId,
        role: 'assistant',
        state: 'waiting',
        text: '',
        parentId: sent.questionId,
      }),
    ].filter(({ id }) => !has(id));
    return { ...conversation, messages: [...conversation.messages, ...added], leafId: sent.answerId };
  });
}

function message(fields: Pick<Message, 'id' | 'role' | 'state' | 'text' | 'parentId'>): Message {
  return {
    ...fields,
    thinking: null,
    createdMs: Date.now(),
    failure: null,
    citations: [],
    notices: [],
    calls: [],
    stats: null,
    hasReport: false,
  };
}

function failureOf(error: unknown): { code: KvasirError['code']; message: string; advice: string } {
  if (error instanceof KvasirError) return { code: error.code, message: error.message, advice: error.advice };
  return { code: 'ENGINE_FAILED', message: String(error), advice: '' };
}
