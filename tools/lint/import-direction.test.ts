import { fileURLToPath } from 'node:url';
import { ESLint, Linter } from 'eslint';
import tseslint from 'typescript-eslint';
import { describe, expect, it } from 'vitest';
import { importDirection } from './import-direction.mjs';
import { LAYERS } from './layers.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** What the rule says about `code`, were it in `file`. */
function lint(file: string, code: string): string[] {
  const linter = new Linter({ cwd: root });
  const messages = linter.verify(
    code,
    [
      {
        files: ['**/*.ts'],
        languageOptions: { parser: tseslint.parser },
        plugins: { kvasir: { rules: { 'import-direction': importDirection } } },
        rules: { 'kvasir/import-direction': 'error' },
      },
    ],
    { filename: `${root}${file}` },
  );
  return messages.map((message) => message.message);
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
    const [message, ...more] = lint(file, `import { x } from '${source}'; x();`);
    expect(more).toEqual([]);
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
    expect(lint(file, `import { x } from '${source}'; x();`)).toEqual([]);
  });

  it.each([
    `import type { Chat } from '../chat/chat.ts'; export const chat: Chat | undefined = undefined;`,
    `export { Chat } from '../chat/chat.ts';`,
    `export * from '../chat/chat.ts';`,
    `export const load = () => import('../chat/chat.ts');`,
    `export type Chat = import('../chat/chat.ts').Chat;`,
  ])('sees every way to import: %s', (code) => {
    expect(lint('src-main/fusion/blender.ts', code)).toHaveLength(1);
  });

  it('keeps the typed native surface inside engine/', () => {
    const code = `import type { NativeAddon } from '../engine/native.ts'; export type Addon = NativeAddon;`;
    expect(lint('src-main/kvstore/store.ts', code)).toEqual([
      'src-main/engine/native.ts belongs to src-main/engine alone: src-main/kvstore imports src-main/engine/engine.ts instead.',
    ]);
    expect(lint('src-main/engine/engine.ts', code.replace('../engine/', './'))).toEqual([]);
  });

  it('keeps src-shared free of packages other than zod, and of Node', () => {
    expect(lint('src-shared/answer.ts', `import { Command } from 'commander'; new Command();`)).toEqual([
      'src-shared must not import commander. It may import these packages: zod.',
    ]);
    expect(lint('src-shared/answer.ts', `import { join } from 'node:path'; join();`)).toEqual([
      'src-shared must not import node:path: it runs without Node.',
    ]);
  });

  it('keeps Electron inside its host', () => {
    const code = `import { app } from 'electron'; app.quit();`;
    expect(lint('src-main/platform/paths.ts', code)).toHaveLength(1);
    expect(lint('src-main/hosts/electron/main.ts', code)).toEqual([]);
  });

  it('asks for a layer where a new folder has none', () => {
    expect(lint('src-main/novel/thing.ts', `import '../engine/engine.ts';`)).toEqual([
      'src-main/novel/thing.ts is in no layer: give its folder a place in tools/lint/layers.mjs.',
    ]);
  });

  it('is an error in the configuration that `npm run check` uses', async () => {
    const eslint = new ESLint({ cwd: root });
    for (const file of [
      'src-shared/errors.ts',
      'src-main/engine/engine.ts',
      'src-main/app.ts',
      'tools/run.mjs',
    ]) {
      const config = (await eslint.calculateConfigForFile(`${root}${file}`)) as {
        rules: Record<string, unknown>;
      };
      expect(config.rules['kvasir/import-direction'], file).toEqual([2]);
    }
  });
});
