import type { Handlers } from '../../src-shared/contract/contract.ts';
import { KvasirError } from '../../src-shared/errors.ts';
import type { App } from '../app.ts';

type ChatHandlers = Pick<Handlers, Extract<keyof Handlers, `chat.${string}`>>;

export function chatHandlers({ chat }: App): ChatHandlers {
  return {
    'chat.list': ({ search }) => chat.list(search),
    'chat.create': ({ options }) => chat.create(options),
    'chat.get': ({ id }) => chat.get(id),
    'chat.rename': ({ id, title }) => {
      chat.rename(id, title);
      return {};
    },
    'chat.setOptions': ({ id, options }) => {
      chat.setOptions(id, options);
      return {};
    },
    'chat.delete': ({ id }) => {
      chat.delete(id);
      return {};
    },
    'chat.restore': ({ id }) => chat.restore(id),
    'chat.send': ({ conversationId, text, parentId }) => chat.send(conversationId, text, parentId),
    'chat.regenerate': ({ conversationId, answerId }) => chat.regenerate(conversationId, answerId),
    'chat.edit': ({ conversationId, questionId, text }) => chat.edit(conversationId, questionId, text),
    'chat.selectLeaf': ({ id, leafId }) => {
      chat.selectLeaf(id, leafId);
      return {};
    },
    'chat.stop': ({ id }) => {
      chat.stop(id);
      return {};
    },
    'chat.export': ({ id, format }) => chat.export(id, format),
    'chat.report': ({ answerId }) => chat.report(answerId),
    'chat.measureFullPrefill': ({ answerId }) => chat.measureFullPrefill(answerId),
    'chat.compare': () => {
      throw new KvasirError('CONFLICT', 'Answers cannot be compared yet.');
    },
    'chat.stopCompare': () => ({}),
    'chat.comparison': () => ({ comparison: null, running: false }),
    'chat.suggestions': () => chat.suggestions(),
  };
}
