/** Calls of the window's contract and of MCP's tools to a real app with its databases, documents, model and engine; imports of damaged caches. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { z } from 'zod';
import { createApi } from '../../../src-main/api/api.ts';
import { createHandlers } from '../../../src-main/api/handlers.ts';
import { App } from '../../../src-main/app.ts';
import { mcpOverHttp } from '../../../src-main/hosts/http/mcp.ts';
import { createMcpServer } from '../../../src-main/hosts/mcp/server.ts';
import { silentLogger } from '../../../src-main/platform/logger.ts';
import { contract } from '../../../src-shared/contract/contract.ts';
import { fromSchema, mutateJson, written, type Schema } from '../json.ts';
import { randomFrom } from '../../../src-main/testing/random.ts';
import { mutate, pick, type Random } from '../mutate.ts';
import type { Target } from '../search.ts';
import { httpMessage, overHttp, toolsOf, type HttpMessage, type ToolSchema } from './mcp.ts';

type Input =
  | { kind: 'call'; name: string; text: string }
  | ({ kind: 'mcp' } & HttpMessage)
  /** `seed`: of the damage. */
  | { kind: 'cache'; seed: number };

/** Not called: they go to the internet or to other programs, look through the machine, work for minutes, or end the process. */
const LEFT_OUT =
  /^(command|hub|devices|tools|calibration|analysis|sharing)\.|^models\.(askServer|addServer|search|download)$|^libraries\.(addAddress|read)$|^documents\.refetch$|^chat\.(compare|measureFullPrefill)$|^app\.(restore|restart|reveal|choosePaths)$/;

const SCHEMAS = Object.entries(contract)
  .filter(([name]) => !LEFT_OUT.test(name))
  .map(([name, { input }]) => ({
    name,
    schema: z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' }) as Schema,
  }));

const IDS = ['1', '1', '2', 'x', '99999999999999999999'];
const PATHS = ['notes', 'notes/weir.md', 'out', 'out.zip', ''];
const WORDS: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(
    ['id', 'ids', 'libraryId', 'libraryIds', 'documentId', 'documentIds', 'projectId'].map((name) => [
      name,
      IDS,
    ]),
  ),
  ...Object.fromEntries(['path', 'paths', 'to', 'from'].map((name) => [name, PATHS])),
};

export async function openApp(): Promise<Target> {
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-fuzz-app-'));
  const here = process.cwd();
  const notes = join(dir, 'a', 'b', 'notes');
  mkdirSync(notes, { recursive: true });
  writeFileSync(join(notes, 'weir.md'), '# The weir\n\nThe weir was built in 1911. Its keeper is Ada.\n');
  // Paths that climb two folders up stay within the folder of the test.
  process.chdir(join(dir, 'a', 'b'));
  const app = await App.open({ dataDir: join(dir, 'data') });
  onTestFinished(async () => {
    await app.close();
    process.chdir(here);
    rmSync(dir, { recursive: true, force: true });
  });
  const defects: unknown[] = [];
  const log = { ...silentLogger, error: (_: string, fields?: object) => void defects.push(fields) };
  const api = createApi(createHandlers(app, { kind: 'server' }), log);
  await api.call('settings.update', { maxTokens: 2, threads: 1, welcomed: true, watchAnswers: false });
  await api.call('libraries.read', { path: notes, precompute: true });
  const saved = join(dir, 'cache.zip');
  await api.call('cache.export', { library: 'notes', file: saved });
  const cache = readFileSync(saved);
  const tools = await toolsOf(app);
  const serve = mcpOverHttp(() => createMcpServer(app));
  return {
    // No call may name the root of the file system: a folder for chunks or an export would be made there.
    make: (random) => JSON.stringify(make(tools, random)).replaceAll('\\"/\\"', '\\".\\"'),
    run: async (text) => {
      const input = JSON.parse(text) as Input;
      if (input.kind === 'mcp') return overHttp(serve, input);
      if (input.kind === 'cache') writeFileSync(saved, mutate(cache, randomFrom(input.seed)));
      const { name, text: value } =
        input.kind === 'cache' ? { name: 'cache.import', text: JSON.stringify({ file: saved }) } : input;
      const result = await api.call(name, JSON.parse(value));
      if (defects.length > 0) throw new Error(`${name}: ${JSON.stringify(defects.splice(0))}`);
      return result.ok ? 'done' : result.error.code;
    },
    inputs: 200,
    mostMs: 10_000, // a call may answer a question
    reaches: ['done', 'BAD_ARGUMENT', 'NOT_FOUND', 'BACKUP_INVALID', 'http result'],
  };
}

function make(tools: readonly ToolSchema[], random: Random): Input {
  const kind = random();
  if (kind < 0.2) return { kind: 'mcp', ...httpMessage(tools, random) };
  if (kind < 0.3) return { kind: 'cache', seed: Math.floor(random() * 2 ** 31) };
  const { name, schema } = pick(SCHEMAS, random);
  const value = fromSchema(schema, { random, root: schema, words: WORDS });
  return { kind: 'call', name, text: written(random() < 0.3 ? mutateJson(value, random) : value) };
}
