import type { HandlersOf } from '../../src-shared/contract/contract.ts';
import type { ModelInUse } from '../../src-shared/contract/models.ts';
import type { App } from '../app.ts';
import type { ModelSource } from '../models/active-model.ts';
import { readCatalogue } from '../models/sources/downloads/download-catalogue.ts';

export async function modelInUse(models: Pick<ModelSource, 'current'>): Promise<ModelInUse> {
  const { model, chunkTokens } = await models.current();
  const { path, adapter } = model;
  const { name, fingerprint, architecture, layers, kvLayers, fileBytes, threads, obstacle } = model.info;
  const info = { name, fingerprint, architecture, layers, kvLayers, fileBytes, threads };
  return { ...info, path, adapter, chunkTokens, obstacle: obstacle === '' ? null : obstacle };
}

export function modelHandlers(app: App): HandlersOf<'models' | 'hub'> {
  const { models, loader, foundModels, downloads, hub, settings } = app;
  return {
    'models.list': () => models.list(),
    'models.current': () => modelInUse(loader),
    'models.found': () => foundModels.report(),
    'models.search': ({ folders }) => foundModels.search(folders),
    'models.addFound': ({ path }) => foundModels.add(path),
    'models.detail': ({ id }) => models.detail(id),
    'models.inspect': ({ path }) => models.inspect(path),
    'models.import': ({ path, copy }) => models.import(path, { copy }),
    'models.rename': ({ id, name }) => models.rename(id, name),
    'models.setPrefixes': ({ id, prefixes }) => models.setPrefixes(id, prefixes),
    'models.setAdapter': ({ id, path }) => models.setAdapter(id, path),
    'models.askServer': ({ address, key }) => app.servers.ask(address, key),
    'models.addServer': (server) => models.addServer(server),
    'models.setServerKey': ({ id, key }) => models.setServerKey(id, key),
    'models.remove': ({ id }) => models.remove(id),
    'models.impact': ({ id }) => app.cache.impact(id),
    'models.activate': async ({ id }) => {
      await loader.activate(id);
      return models.get(id);
    },
    'models.deactivate': ({ id }) => loader.deactivate(id),
    'models.catalogue': () => readCatalogue(settings.current.modelCatalogue),
    'models.downloads': () => downloads.list(),
    'models.download': async (request) => {
      const listed = await readCatalogue(settings.current.modelCatalogue).catch(() => []);
      return downloads.add(request, listed.find(({ url }) => url === request.url)?.bytes);
    },
    'models.pauseDownload': ({ id }) => downloads.pause(id),
    'models.resumeDownload': ({ id }) => downloads.resume(id),
    'models.cancelDownload': ({ id }) => downloads.cancel(id),
    'hub.info': () => hub.info(),
    'hub.setToken': ({ token }) => hub.setToken(token),
    'hub.start': () => hub.start(),
    'hub.search': ({ query, cursor }) => hub.search(query, cursor),
    'hub.repository': ({ repository }) => hub.repository(repository),
    'hub.download': ({ repository, revision, path }) => hub.download(repository, revision, path),
  };
}
