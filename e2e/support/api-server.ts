/** The API through the real program, with the real engine and the demo model. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, vi } from 'vitest';
import { App } from '../../src-main/app.ts';
import { removeDir, startCli, tempDir, type RunningCli } from '../cli-support.ts';
import { readyData } from './ready-data.ts';
import { startWithoutSample } from './ready-library.ts';

export const KEY = 'e2e-key-0123456789';
/** The demo model's name in the list. */
export const DEMO = 'Kvasir demo';
/** The sample library, which is ready before the server starts. */
export const LIBRARY = 'kvasir/Sample library';

export interface ApiServer extends RunningCli {
  /** Including /v1. */
  baseURL: string;
  origin: string;
}

/** Starts the server on a free port, and waits until its model is loaded. */
export async function serveApi(
  data: string,
  flags: readonly string[] = [],
  isUp: (origin: string) => Promise<boolean> = answersHealth,
): Promise<ApiServer> {
  const keys = join(data, 'keys.txt');
  writeFileSync(keys, `# for tests\n${KEY}\n`);
  const running = startCli(['serve', '--api', '--data', data, '--api-key-file', keys, ...flags]);
  let printed = '';
  running.child.stdout?.on('data', (text: string) => (printed += text));
  const ended = running.finished.then(({ code, stderr }) => {
    throw new Error(`the server ended with ${code}: ${stderr}`);
  });
  const address = /^(https?:\/\/\S+)\/v1$/m;
  const found = vi.waitUntil(() => address.exec(printed)?.[1], { timeout: 60_000, interval: 50 });
  const origin = await Promise.race([found, ended]);
  await vi.waitUntil(() => isUp(origin), { timeout: 60_000, interval: 100 });
  return { ...running, origin, baseURL: `${origin}/v1` };
}

/** A server with the sample library for all tests of a file. It is available from the file's own `beforeAll` on. */
export function sampleApi(): { readonly server: ApiServer } {
  let dir: string;
  let server: ApiServer;
  beforeAll(async () => {
    dir = await readyData(tempDir());
    server = await serveApi(dir);
  });
  afterAll(async () => {
    await endApi(server);
    removeDir(dir);
  });
  return {
    get server() {
      return server;
    },
  };
}

async function answersHealth(origin: string): Promise<boolean> {
  return (await fetch(`${origin}/health`)).status === 200;
}

export async function endApi({ child, finished }: ApiServer): Promise<void> {
  child.kill('SIGINT');
  const { code, stderr } = await finished;
  if (code !== 0 || stderr !== '') throw new Error(`the server ended with ${code}: ${stderr}`);
}

/** Selects a model, for what its type is for; returns its name. Without `sample` the data folder has no sample library. */
export async function useModel(
  data: string,
  path: string,
  called = '',
  { sample = true } = {},
): Promise<string> {
  const app = await App.open({ dataDir: data });
  try {
    const { id, name } = await app.models.import(path, { name: called });
    await app.loader.activate(id);
    if (!sample) await startWithoutSample(app);
    return name;
  } finally {
    await app.close();
  }
}

/** All items of a stream. */
export async function all<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of stream) items.push(item);
  return items;
}
