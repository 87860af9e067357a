import { totalmem } from 'node:os';
import type { AppInfo } from '../../src-shared/contract/app.ts';
import type { HandlersOf } from '../../src-shared/contract/contract.ts';
import { KvasirError } from '../../src-shared/errors.ts';
import type { App } from '../app.ts';
import { spaceOf } from '../platform/space.ts';
import type { HostServices } from './host.ts';

export function appHandlers(app: App, host: HostServices): HandlersOf<'app'> {
  let exporting = new AbortController();
  return {
    'app.info': () => infoOf(app, host),
    'app.found': () => app.takeFound(),
    'app.choosePaths': async ({ kind }) => {
      if (!host.choosePaths) {
        const advice = 'Type the path, or drop the files into the window.';
        throw new KvasirError('BAD_ARGUMENT', 'Kvasir cannot open file dialogs in a browser.', advice);
      }
      return { paths: await host.choosePaths(kind) };
    },
    'app.reveal': ({ path }) => host.reveal?.(path),
    'app.backup': () => app.backups.create(),
    'app.backups': () => app.backups.list(),
    'app.restore': ({ path }) => app.backups.restore(path),
    'app.export': ({ to }) => app.exports.write(to, exporting.signal),
    'app.stopExport': () => {
      exporting.abort();
      exporting = new AbortController();
    },
    'app.restart': () => {
      if (!host.restart) {
        const advice = 'Stop Kvasir where you started it, and start it again.';
        throw new KvasirError('BAD_ARGUMENT', 'Kvasir cannot restart itself here.', advice);
      }
      host.restart();
    },
  };
}

async function infoOf({ paths, engine, version, backups }: App, host: HostServices): Promise<AppInfo> {
  return {
    version,
    host: host.kind,
    platform: `${process.platform} ${process.arch}`,
    dataDir: paths.data,
    engine: engine.version(),
    memoryFree: process.availableMemory(),
    memoryTotal: totalmem(),
    diskFree: (await spaceOf(paths.data))?.free ?? null,
    nativeDialogs: host.choosePaths !== undefined,
    updates: host.updates === true,
    restarts: host.restart !== undefined,
    restoreWaiting: backups.restoreWaiting,
  };
}
