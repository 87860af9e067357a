import type { HandlersOf } from '../../src-shared/contract/contract.ts';
import type { App } from '../app.ts';

export function analysisHandlers({ analysis }: Pick<App, 'analysis'>): HandlersOf<'analysis'> {
  return {
    'analysis.plan': (request) => analysis.plan(request),
    'analysis.document': (request) => analysis.analyse(request),
    'analysis.questions': (request) => analysis.ask(request),
    'analysis.list': () => analysis.list(),
    'analysis.get': ({ id }) => analysis.get(id),
    'analysis.stop': ({ id }) => analysis.stop(id),
    'analysis.resume': ({ id, stepId, goOn }) => analysis.resume(id, stepId, goOn),
    'analysis.delete': ({ id }) => analysis.delete(id),
    'analysis.export': ({ id, format }) => analysis.export(id, format),
  };
}
