import type { HandlersOf } from '../../src-shared/contract/contract.ts';
import type { PrecomputePlan } from '../../src-shared/contract/libraries.ts';
import type { LibraryProgress } from '../../src-shared/library.ts';
import type { App } from '../app.ts';
import type { ModelSource } from '../models/active-model.ts';

type LibraryHandlers = HandlersOf<'libraries' | 'documents' | 'queue' | 'chunking'>;
type ReadHandlers = Pick<LibraryHandlers, 'libraries.read' | 'libraries.plan' | 'libraries.stopReading'>;

/** Reading of folders for the model in use. */
export function readHandlers({
  libraries,
  loader,
  settings,
  events,
}: Pick<App, 'libraries' | 'settings' | 'events'> & { loader: ModelSource }): ReadHandlers {
  let reading = new AbortController();
  let ended: Promise<unknown> = Promise.resolve();
  const read: ReadHandlers['libraries.read'] = async ({ path, precompute }) => {
    const { signal } = reading;
    const onProgress = (progress: LibraryProgress): void => events.emit('library.progress', progress);
    const onPlan = (plan: PrecomputePlan): void => events.emit('library.plan', plan);
    const { dtype } = settings.current;
    const { model, chunkTokens } = await loader.current();
    return libraries.read(path, { model, chunkTokens, dtype }, { precompute, signal, onProgress, onPlan });
  };
  return {
    'libraries.read': (input) => {
      const work = read(input);
      ended = Promise.allSettled([ended, work]);
      return work;
    },
    'libraries.plan': async ({ id }) => ({
      plan: await libraries.plan(await loader.current(), settings.current.dtype, id),
    }),
    'libraries.stopReading': async () => {
      reading.abort();
      reading = new AbortController();
      await ended;
    },
  };
}

export function libraryHandlers(app: App): LibraryHandlers {
  const { libraries } = app;
  const { documents, queue } = libraries;
  const opened = (id: string, position: number): void =>
    queue.placed((places) => places.add(Number(id), position, 'found'));
  return {
    'libraries.list': () => libraries.list(),
    'libraries.create': ({ name }) => libraries.create(name),
    'libraries.rename': ({ id, name }) => libraries.rename(id, name),
    'libraries.delete': ({ id }) => libraries.delete(id),
    'libraries.addPaths': (input) => libraries.addPaths(input),
    'libraries.addAddress': ({ id, url }) => libraries.addAddress(id, url),
    'libraries.removeRoot': ({ id, rootId }) => libraries.removeRoot(id, rootId),
    'libraries.setWatched': ({ id, rootId, watched }) => libraries.setWatched(id, rootId, watched),
    'libraries.skipped': ({ id, rootId }) => libraries.skipped(id, rootId),
    'libraries.rescan': ({ id }) => libraries.rescan(id),
    ...readHandlers(app),

    'documents.list': (input) => documents.list(input),
    'documents.get': ({ id }) => documents.get(id),
    'documents.some': ({ ids }) => documents.some(ids),
    'documents.below': async ({ libraryId, paths }) => ({
      ids: await libraries.documentsBelow(libraryId, paths),
    }),
    'documents.text': (input) => {
      opened(input.id, input.offset);
      return documents.text(input);
    },
    'documents.rows': (input) => app.tables.rows(input),
    'documents.changed': async ({ id }) => ({ changed: await libraries.views.hasChanged(id) }),
    'documents.page': async (input) => {
      const { html: _, ...page } = await libraries.views.page(input);
      opened(input.id, input.start ?? 0);
      return page;
    },
    'documents.lines': ({ id, ...passage }) => libraries.views.lines(id, passage),
    'documents.chunks': (input) => documents.chunks(input),
    'documents.delete': ({ ids }) => documents.delete(ids),
    'documents.retry': ({ ids }) => documents.retry(ids),
    'documents.refetch': ({ id }) => libraries.refetch(id),

    'queue.status': () => queue.status(),
    'queue.pause': () => {
      queue.pause();
      return queue.status();
    },
    'queue.resume': () => {
      queue.resume();
      return queue.status();
    },
    'queue.retryFailed': ({ libraryId }) => libraries.retryFailed(libraryId),

    'chunking.preview': (input) => documents.preview(input),
  };
}
