/** Choosing a model without a window. */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectFailure, makeModel, removeDir, runCli, tempDir } from './cli-support.ts';
import { runHere } from './support/in-process.ts';
import { DEMO, endApi, KEY, serveApi } from './support/api-server.ts';

let dir: string;
let data: string;
let first: string;
let second: string;
beforeAll(() => {
  dir = tempDir();
  data = join(dir, 'data');
  first = makeModel(join(dir, 'first.gguf'));
  second = makeModel(join(dir, 'second.gguf'), { layers: 4 });
});
afterAll(() => removeDir(dir));

const model = (...args: string[]) => runHere(['model', ...args, '--data', data]);

interface Listed {
  name: string;
  path: string;
}

async function listed(): Promise<Listed[]> {
  return (JSON.parse((await model('list', '--json')).stdout) as { models: Listed[] }).models;
}

/** The chat models that a server with these flags has in use. */
async function served(...flags: string[]): Promise<string[]> {
  const server = await serveApi(data, flags);
  const answer = await fetch(`${server.baseURL}/models`, { headers: { Authorization: `Bearer ${KEY}` } });
  const { data: models } = (await answer.json()) as { data: { id: string; kind: string }[] };
  await endApi(server);
  return models.flatMap(({ id, kind }) => (kind === 'chat' ? [id] : []));
}

test('a file is added to the list, and used by its name from then on', async () => {
  const added = await model('import', first);
  expect([added.code, added.stderr]).toEqual([0, '']);
  const { name } = (await listed()).find(({ path }) => path === first)!;
  expect(added.stdout).toContain(`model use ${JSON.stringify(name)}`);
  expect(await served()).toEqual([DEMO]);
  const used = await model('use', name);
  expect([used.code, used.stdout]).toEqual([0, `${name} answers from now on.\n`]);
  expect(await served()).toEqual([name]);
  expect(await served('--model', DEMO)).toEqual([DEMO]);
});

test('a server adds the file that it is given, and the next one uses it as well', async () => {
  const [name] = await served('--model', second);
  expect((await listed()).find(({ path }) => path === second)?.name).toBe(name);
  expect(await served()).toEqual([name]);
});

test('a copy is in the data folder', async () => {
  const copied = makeModel(join(dir, 'copied.gguf'), { layers: 2 });
  expect((await model('import', copied, '--copy')).code).toBe(0);
  expect((await listed()).map(({ path }) => path)).toContainEqual(
    expect.stringContaining(join(data, 'models')),
  );
});

test('unknown names and files are refused with a list of the known ones', async () => {
  const unknown = await model('use', 'none');
  expectFailure(unknown, 'NOT_FOUND');
  expect(unknown.stderr).toContain(JSON.stringify(DEMO));
  expectFailure(await model('import', join(dir, 'none.gguf')), 'MODEL_NOT_FOUND');
  expectFailure(await runCli(['serve', '--api', '--model', 'none', '--data', data]), 'NOT_FOUND');
  expectFailure(await runCli(['serve', '--no-open', '--model', DEMO, '--data', data]), 'BAD_ARGUMENT', 2);
});
