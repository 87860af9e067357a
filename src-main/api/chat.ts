import type { HandlersOf } from '../../src-shared/contract/contract.ts';
import type { App } from '../app.ts';

export function chatHandlers({
  chat,
  prefetcher,
}: Pick<App, 'chat' | 'prefetcher'>): HandlersOf<'chat' | 'projects'> {
  return {
    'chat.list': ({ search }) => chat.list(search),
    'chat.create': ({ options, projectId }) => chat.create(options, projectId),
    'chat.get': ({ id }) => chat.get(id),
    'chat.rename': ({ id, title }) => chat.rename(id, title),
    'chat.setOptions': ({ id, options }) => chat.setOptions(id, options),
    'chat.setPinned': ({ id, pinned }) => chat.setPinned(id, pinned),
    'chat.move': ({ id, projectId }) => chat.move(id, projectId),
    'projects.list': () => chat.projects(),
    'projects.create': (fields) => chat.createProject(fields),
    'projects.change': (project) => chat.changeProject(project),
    'projects.delete': ({ id }) => chat.deleteProject(id),
    'chat.drafts': () => chat.drafts(),
    'chat.setDraft': (draft) => chat.setDraft(draft),
    'chat.delete': ({ id }) => chat.delete(id),
    'chat.restore': ({ id }) => chat.restore(id),
    'chat.send': ({ conversationId, text }) => chat.send(conversationId, text),
    'chat.draft': (draft) => prefetcher.draft(draft),
    'chat.estimate': (draft) => chat.estimate(draft),
    'chat.regenerate': ({ conversationId, answerId, ...how }) =>
      chat.regenerate(conversationId, answerId, how),
    'chat.continue': ({ conversationId, answerId }) => chat.continue(conversationId, answerId),
    'chat.edit': ({ conversationId, questionId, text }) => chat.edit(conversationId, questionId, text),
    'chat.selectLeaf': ({ id, leafId }) => chat.selectLeaf(id, leafId),
    'chat.decideCall': ({ answerId, callId, decision }) => chat.decideCall(answerId, callId, decision),
    'chat.takesTools': () => chat.takesTools(),
    'chat.stop': ({ id }) => chat.stop(id),
    'chat.export': ({ id, format, thinking }) => chat.export(id, format, { thinking }),
    'chat.report': ({ answerId }) => chat.report(answerId),
    'chat.measureFullPrefill': ({ answerId }) => chat.measureFullPrefill(answerId),
    'chat.compare': (request) => chat.comparisons.run(request),
    'chat.stopCompare': () => chat.comparisons.stop(),
    'chat.comparison': ({ answerId }) => chat.comparisons.status(answerId),
    'chat.suggestions': () => chat.suggestions(),
  };
}
