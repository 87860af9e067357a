import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { importProblem } from './import-direction.mjs';
import { LAYERS } from './layers.mjs';

const root = join(import.meta.dirname, '..', '..');

/** The messages of a rule in the configuration that `npm run check` uses, by file. */
function lint(rule: string, files: Record<string, string>): Record<string, string[]> {
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-lint-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  for (const [file, code] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, file)), { recursive: true });
    writeFileSync(join(dir, file), code);
  }
  const modules = join(root, 'node_modules');
  // A copy, since the patterns of a configuration are relative to its folder.
  const config = readFileSync(join(root, '.oxlintrc.json'), 'utf8')
    .replace('"./tools/lint/plugin.mjs"', JSON.stringify(join(root, 'tools', 'lint', 'plugin.mjs')))
    .replace(
      '"eslint-plugin-react-hooks"',
      JSON.stringify(join(modules, 'eslint-plugin-react-hooks', 'index.js')),
    );
  writeFileSync(join(dir, '.oxlintrc.json'), config);
  let output: string;
  try {
    const args = [join(modules, 'oxlint', 'bin', 'oxlint'), '-f', 'json'];
    const env = {
      ...process.env,
      OXLINT_TSGOLINT_PATH: join(modules, 'oxlint-tsgolint', 'bin', 'tsgolint.js'),
    };
    output = execFileSync(process.execPath, args, { cwd: dir, env, encoding: 'utf8' });
  } catch (error) {
    output = (error as { stdout: string }).stdout; // it found something
  }
  const { diagnostics } = JSON.parse(output) as {
    diagnostics: { filename: string; message: string; code: string }[];
  };
  const found: Record<string, string[]> = {};
  for (const { filename, message, code } of diagnostics)
    if (code.includes(rule)) (found[filename] ??= []).push(message);
  return found;
}

describe('the import direction rule', () => {
  it.each([
    ['src-main/chat/chat.ts', '../hosts/command-line/cli.ts', 'src-main/hosts/command-line'],
    ['src-main/retrieval/retriever.ts', '../chat/chat.ts', 'src-main/chat'],
    ['src-main/fusion/blender.ts', '../library/library.ts', 'src-main/library'],
    ['src-main/library/library.ts', '../chat/chat.ts', 'src-main/chat'],
    ['src-main/answering/answer.ts', '../chat/chat.ts', 'src-main/chat'],
    ['src-main/answering/answer.ts', '../analysis/analysis-service.ts', 'src-main/analysis'],
    ['src-main/analysis/analysis-run.ts', '../chat/chat.ts', 'src-main/chat'],
    ['src-main/catalogue/catalogue.ts', '../library/library.ts', 'src-main/library'],
    ['src-main/engine/engine.ts', '../kvstore/store.ts', 'src-main/kvstore'],
    ['src-main/platform/paths.ts', '../engine/engine.ts', 'src-main/engine'],
    ['src-main/kvstore/store.ts', '../fusion/blender.ts', 'src-main/fusion'],
    ['src-main/models/model-defaults.ts', '../app.ts', 'src-main/app.ts'],
    ['src-main/hosts/command-line/cli.ts', '../electron/main.ts', 'src-main/hosts/electron'],
    ['src-main/hosts/command-line/cli.ts', '../../engine/engine.ts', 'src-main/engine'],
    ['src-shared/answer.ts', '../src-main/chat/chat.ts', 'src-main/chat'],
    ['src-renderer/app/main.ts', '../../src-main/app.ts', 'src-main/app.ts'],
    ['src-main/app.ts', '../tools/check.ts', 'tools'],
  ])('forbids %s to import %s', (file, source, layer) => {
    const from = LAYERS.find((entry) => file === entry.path || file.startsWith(`${entry.path}/`));
    const message = importProblem(file, source);
    expect(message).toContain(`${from?.path ?? ''} must not import ${layer}`);
    for (const allowed of from?.imports ?? []) expect(message).toContain(allowed);
  });

  it.each([
    ['src-main/chat/chat.ts', '../retrieval/retriever.ts'],
    ['src-main/chat/chat.ts', '../fusion/blender.ts'],
    ['src-main/chat/chat.ts', '../answering/answer.ts'],
    ['src-main/chat/chat.ts', '../models/catalogue.ts'],
    ['src-main/library/library.ts', '../kvstore/store.ts'],
    ['src-main/library/library.ts', '../fusion/blender.ts'],
    ['src-main/fusion/blender.ts', '../kvstore/store.ts'],
    ['src-main/fusion/strategies/none.ts', '../../engine/engine.ts'],
    ['src-main/hosts/command-line/cli.ts', '../../app.ts'],
    ['src-main/hosts/command-line/cli.ts', '../../../src-shared/errors.ts'],
    ['src-main/app.ts', './chat/chat.ts'],
    ['src-main/chat/chat.ts', './prompt.ts'],
    ['src-main/platform/paths.ts', 'node:path'],
    ['src-shared/answer.ts', 'zod'],
    ['bench/ttft.ts', '../src-main/engine/engine.ts'],
  ])('lets %s import %s', (file, source) => {
    expect(importProblem(file, source)).toBeUndefined();
  });

  it('is an error, whatever the way to import, in the configuration that `npm run check` uses', () => {
    const ways = [
      `import type { Chat } from '../chat/chat.ts'; export const chat: Chat | undefined = undefined;`,
      `export { Chat } from '../chat/chat.ts';`,
      `export * from '../chat/chat.ts';`,
      `export const load = () => import('../chat/chat.ts');`,
      `export type Chat = import('../chat/chat.ts').Chat;`,
    ];
    const files = Object.fromEntries(ways.map((code, i) => [`src-main/fusion/way-${i}.ts`, code]));
    const found = lint('import-direction', {
      ...files,
      'src-main/fusion/fine.ts': `export * from '../engine/engine.ts';`,
    });
    expect(Object.keys(found).sort()).toEqual(Object.keys(files));
    for (const messages of Object.values(found))
      expect(messages).toEqual([expect.stringContaining('src-main/fusion must not import src-main/chat')]);
  });

  it('lets only src-main/engine name the native addon', () => {
    const code = `export const addon = 'build/kvasir.node';`;
    const files = { 'src-main/kvstore/store.ts': code, 'src-main/engine/load.ts': code };
    expect(Object.keys(lint('no-native-addon', files))).toEqual(['src-main/kvstore/store.ts']);
  });

  it('lets only AnswerMaker take a turn with a model', () => {
    const code = 'declare const backend: { turn(): void }; backend.turn();';
    const files = { 'src-main/chat/answerer.ts': code, 'src-main/answering/answer.ts': code };
    expect(Object.keys(lint('one-turn', files))).toEqual(['src-main/chat/answerer.ts']);
  });

  it.each([
    'declare class ServerModel {} export const ask = (model: object) => model instanceof ServerModel;',
    `export const ask = ({ engine }: { engine: string }) => engine === 'remote';`,
    'declare function canBlend(model: object): boolean; export const ask = () => canBlend({});',
  ])('lets only the backends and the list of models ask about servers: %s', (code) => {
    const files = {
      'src-main/chat/sessions.ts': code,
      'src-main/answering/backends/backend-of.ts': code,
      'src-main/models/active-model.ts': code,
    };
    expect(Object.keys(lint('no-server-question', files))).toEqual(['src-main/chat/sessions.ts']);
  });

  it('keeps the typed native surface inside engine/', () => {
    expect(importProblem('src-main/kvstore/store.ts', '../engine/native.ts')).toBe(
      'src-main/engine/native.ts belongs to src-main/engine alone: src-main/kvstore imports src-main/engine/engine.ts instead.',
    );
    expect(importProblem('src-main/engine/engine.ts', './native.ts')).toBeUndefined();
  });

  it('keeps src-shared free of packages other than zod, and of Node', () => {
    expect(importProblem('src-shared/answer.ts', 'commander')).toBe(
      'src-shared must not import commander. It may import these packages: zod.',
    );
    expect(importProblem('src-shared/answer.ts', 'node:path')).toBe(
      'src-shared must not import node:path: it runs without Node.',
    );
  });

  it('keeps Electron inside its host', () => {
    expect(importProblem('src-main/platform/paths.ts', 'electron')).toBeDefined();
    expect(importProblem('src-main/hosts/electron/main.ts', 'electron')).toBeUndefined();
  });

  it('asks for a layer where a new folder has none', () => {
    expect(importProblem('src-main/novel/thing.ts', '../engine/engine.ts')).toBe(
      'src-main/novel/thing.ts is in no layer: give its folder a place in tools/lint/layers.mjs.',
    );
  });
});
