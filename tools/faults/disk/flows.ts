import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import type { App } from '../../../src-main/app.ts';
import { SCHEMAS } from '../../../src-main/databases.ts';
import type { ContractClient } from '../../../src-shared/contract/client.ts';
import { openDatabase } from '../../../src-main/platform/database.ts';
import { DEMO_MODEL } from '../own-model.ts';
import { ask, downloaded, driveIn, settled, type Acceptance } from './contents.ts';
import { MODEL_SHA256, MODEL_URL } from './model-server.ts';

interface Work {
  app: App;
  client: ContractClient;
  /** The data folder; the drive is beside it. */
  data: string;
  /** Tells what Kvasir has accepted: it must exist after every fault. */
  promise: (promised: Acceptance) => void;
  /** Makes one step, which may fail with an error that people can read; the flow continues after it. */
  step: <T>(work: () => Promise<T>) => Promise<T | undefined>;
}

/** Something that people do, as a sequence of steps. */
export interface Flow {
  /** Changes the data folder before the flow. Nobody has it open. */
  prepare?: (
    data: string,
    open: (work: (app: App, client: ContractClient) => Promise<unknown>) => Promise<void>,
  ) => Promise<void>;
  run: (work: Work) => Promise<unknown>;
}

const SMALL_BUDGET_BYTES = 4_000_000;
const ROOMY_BUDGET_BYTES = 1_000_000_000;
const ON_DRIVE = 'kvasir-cache';
const UNPLUGGED = 'unplugged';
const evictAll = (client: ContractClient): Promise<unknown> =>
  client.call('cache.evict', { selection: { all: true } });
const precompute = (client: ContractClient): Promise<unknown> =>
  client.call('libraries.read', { precompute: true });

const copyIn = ({ client, promise, step }: Work): Promise<unknown> =>
  step(async () => {
    const { path } = await client.call('models.import', { path: DEMO_MODEL, copy: true });
    promise({ kind: 'model', path });
  });

export const FLOWS = {
  ingest: {
    run: async ({ app, client, promise, step }) => {
      const library = await step(() => client.call('libraries.create', { name: 'New' }));
      if (!library) return;
      for (const number of ['one', 'two', 'three']) {
        const path = `notes/${number}.md`;
        const text = `# Note ${number}\n\nThe lighthouse keeper wrote note ${number}.`;
        await step(async () => {
          await app.libraries.receiveUpload(library.id, path, Readable.from([text]));
          promise({ kind: 'document', path, text });
        });
      }
      await settled(client);
    },
  },
  precompute: {
    prepare: (_, open) => open((_app, client) => evictAll(client)),
    run: ({ client, step }) => step(() => precompute(client)),
  },
  eviction: {
    prepare: (_, open) => open((_app, client) => evictAll(client)),
    run: async ({ client, step }) => {
      await step(() => client.call('settings.update', { diskBudgetBytes: SMALL_BUDGET_BYTES }));
      await step(() => precompute(client));
      await step(() => client.call('cache.evict', { selection: { freeBytes: SMALL_BUDGET_BYTES / 2 } }));
      await step(() => client.call('settings.update', { diskBudgetBytes: null }));
      await step(() => precompute(client));
    },
  },
  answers: {
    run: async ({ client, promise, step }) => {
      for (let i = 0; i < 2; i++) await step(() => ask(client, promise));
    },
  },
  calibration: {
    run: ({ client, step }) =>
      step(() => client.call('calibration.run', { strategies: ['query'], ratios: [0.2], prompts: 1 })),
  },
  folders: {
    prepare: (data) => mkdir(driveIn(dirname(data))),
    run: storeOnDrive,
  },
  archive: {
    run: async ({ client, data, step }) => {
      const file = join(data, 'archive.zip');
      const [folder] = (await client.call('libraries.list')).flatMap(({ sample, roots }) =>
        sample ? [] : roots,
      );
      await step(() => client.call('cache.export', { library: folder?.path ?? '', file }));
      await step(() => evictAll(client));
      await step(() => client.call('cache.import', { file }));
    },
  },
  settings: {
    run: async ({ client, promise, step }) => {
      for (let memoryBudgetBytes = 2 ** 30; memoryBudgetBytes < 2 ** 30 + 5; memoryBudgetBytes++)
        await step(async () => {
          await client.call('settings.update', { memoryBudgetBytes });
          promise({ kind: 'setting', memoryBudgetBytes });
        });
    },
  },
  import: {
    run: async (work) => void (await copyIn(work)),
  },
  download: {
    run: async (work) => {
      const { client, promise, step } = work;
      await copyIn(work); // has the file name that the download would get
      const url = process.env[MODEL_URL] ?? '';
      await step(async () => {
        await client.call('models.download', { url, sha256: MODEL_SHA256 });
        promise({ kind: 'download', url });
        await downloaded(client, url);
      });
    },
  },
  backup: {
    run: ({ client, promise, step }) =>
      step(async () => {
        const { path } = await client.call('app.backup');
        promise({ kind: 'backup', path });
      }),
  },
  restore: {
    prepare: (_, open) =>
      open(async (_app, client) => {
        const { path } = await client.call('app.backup');
        await client.call('app.restore', { path });
      }),
    run: ({ client }) => settled(client),
  },
  migration: {
    prepare: async (data) => {
      // That of watching.sqlite empties tables and names them otherwise.
      for (const name of Object.keys(SCHEMAS).filter((each) => each !== 'watching.sqlite'))
        toOlderVersion(join(data, name), SCHEMAS[name as keyof typeof SCHEMAS]);
      return Promise.resolve();
    },
    run: ({ client }) => settled(client),
  },
} satisfies Record<string, Flow>;

export type FlowName = keyof typeof FLOWS;
export const FLOW_NAMES = Object.keys(FLOWS) as FlowName[];

/**
 * A second cache folder is added, gets chunks and loses them, is unplugged and plugged in, changed, removed, and added
 * again.
 */
async function storeOnDrive({ app, client, data, promise, step }: Work): Promise<void> {
  const drive = driveIn(dirname(data));
  const own = (diskBudgetBytes: number | null): Promise<unknown> =>
    step(async () => {
      await client.call('settings.update', { diskBudgetBytes });
      await app.store.idle(); // moved to the drive, or promoted from it
    });
  const add = async (): Promise<string | undefined> => {
    const added = await step(() =>
      client.call('cache.addFolder', { path: drive, budgetBytes: ROOMY_BUDGET_BYTES }),
    );
    const { id } = added?.folders.at(-1) ?? {};
    // Not as measured, so that each run moves the same chunks.
    if (id !== undefined)
      app.store.folders.rankBy(() => [
        { id: '', addsDelay: false },
        { id, addsDelay: true },
      ]);
    return id;
  };
  const id = await add();
  if (id === undefined) return;
  await step(() => client.call('settings.update', { memoryBudgetBytes: 0 })); // chunks are used from their files
  await own(0);
  const library = await step(() => client.call('libraries.create', { name: 'Gone' }));
  if (library)
    await step(() => app.libraries.receiveUpload(library.id, 'gone.txt', Readable.from(['It is deleted.'])));
  await settled(client);
  await own(SMALL_BUDGET_BYTES);
  await step(() => ask(client, promise));
  await own(SMALL_BUDGET_BYTES);
  unplug(drive);
  await step(() => app.store.folders.check());
  await step(() => ask(client, promise));
  if (library) await step(() => client.call('libraries.delete', { id: library.id }));
  plugIn(drive);
  await step(() => app.store.folders.check());
  await step(() => client.call('cache.changeFolder', { id, budgetBytes: SMALL_BUDGET_BYTES }));
  await own(null);
  await step(() => client.call('cache.removeFolder', { id }));
  await add();
  await own(SMALL_BUDGET_BYTES);
}

/** What Kvasir has there disappears, as with a drive's file system. By another program: it never fails. */
function unplug(drive: string): void {
  if (existsSync(join(drive, ON_DRIVE))) execFileSync('mv', [join(drive, ON_DRIVE), join(drive, UNPLUGGED)]);
}

/** Undoes unplug(), also that of a flow that was killed. */
export function plugIn(drive: string): void {
  if (existsSync(join(drive, UNPLUGGED))) execFileSync('mv', [join(drive, UNPLUGGED), join(drive, ON_DRIVE)]);
}

/** Makes a database one of the version before its last migration, which added tables and columns. */
function toOlderVersion(path: string, migrations: readonly string[]): void {
  const version = migrations.length - 1;
  if (version === 0) return;
  const older = openDatabase(':memory:', migrations.slice(0, version));
  const newer = openDatabase(':memory:', migrations);
  const database = openDatabase(path, migrations);
  database.pragma('foreign_keys = OFF');
  const tables = "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'";
  const columns = 'SELECT name FROM pragma_table_info(?)';
  const known = older.column<string>(tables);
  for (const table of newer.column<string>(tables)) {
    if (!known.includes(table)) database.exec(`DROP TABLE "${table}"`);
    const kept = older.column<string>(columns, table);
    for (const column of kept.length === 0 ? [] : newer.column<string>(columns, table))
      if (!kept.includes(column)) database.exec(`ALTER TABLE "${table}" DROP COLUMN "${column}"`);
  }
  database.pragma(`user_version = ${version}`);
  for (const each of [database, older, newer]) each.close();
}
