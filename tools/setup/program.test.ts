import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ROOT } from './platform.mjs';

const SOURCES = {
  'src-shared/word.ts': "export const word: string = 'one';",
  'src-main/later.ts': "export const later: string = 'later';",
  'src-main/work/start.ts': `
    import { fork } from 'node:child_process';
    import { fileURLToPath } from 'node:url';
    export const start = () => fork(fileURLToPath(new URL('./worker.ts', import.meta.url)));`,
  'src-main/work/worker.ts': "import { word } from '../../src-shared/word.ts'; console.log('worker', word);",
  'src-main/hosts/start.ts': `
    import { start } from '../work/start.ts';
    import { word } from '../../src-shared/word.ts';
    const { later } = await import('../later.ts');
    console.log('program', word, later);
    start();`,
  ...Object.fromEntries(
    ['main', 'parser', 'query', 'trial', 'device-trial', 'preload'].map((name) => [
      `src-main/hosts/electron/${name}.ts`,
      `console.log('${name}');`,
    ]),
  ),
};

// Bundles a small program in a copy of the project, with its packages.
describe("the program's bundle", () => {
  let root = '';

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'kvasir-program-'));
    for (const path of [
      ...['tools/setup', 'tools/dist/packages.ts', 'resources/gpu-packs.json'],
      ...['package.json', 'package-lock.json', 'electron.vite.config.ts'],
    ])
      cpSync(join(ROOT, path), join(root, path), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'), 'junction');
    for (const [path, source] of Object.entries(SOURCES)) write(path, source);
  });
  afterEach(() => rmSync(root, { recursive: true }));

  function write(path: string, source: string): void {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), source);
  }

  /** Brings the bundle up to date in a separate process; returns what it reports. */
  async function bundle(): Promise<string> {
    const script = "import('./tools/setup/setup.mjs').then((setup) => setup.bundleProgram())";
    const child = spawn(process.execPath, ['-e', script], { cwd: root, stdio: ['ignore', 'ignore', 'pipe'] });
    const [said] = await Promise.all([text(child.stderr), once(child, 'exit')]);
    return said;
  }

  function start(): string {
    return spawnSync(process.execPath, [join(root, 'out', 'main', 'start.js')], { encoding: 'utf8' }).stdout;
  }

  const parts = (): string[] => readdirSync(join(root, 'out', 'main', 'chunks')).sort();

  it('runs, and starts its worker processes', async () => {
    expect(await bundle()).toMatch(/program .*modules bundled/);
    expect(start()).toBe('program one later\nworker one\n');
  });

  it('is made once for concurrent starts, and again when a source changes', async () => {
    const reports = await Promise.all([bundle(), bundle()]);
    expect(reports.filter((report) => report.includes('modules bundled'))).toHaveLength(1);
    expect(await bundle()).toBe('');
    write('src-shared/word.ts', "export const word: string = 'two';");
    expect(await bundle()).toMatch(/modules bundled/);
    expect(start()).toBe('program two later\nworker two\n');
  });

  it('keeps the parts of the bundle that it replaces, for programs that run, and no older ones', async () => {
    await bundle();
    const first = parts();
    write('src-main/later.ts', "export const later: string = 'then';");
    await bundle();
    const second = parts();
    expect(second).toEqual(expect.arrayContaining(first));
    write('src-main/later.ts', "export const later: string = 'now';");
    await bundle();
    const replaced = first.filter((name) => name.startsWith('later-'));
    expect(replaced).not.toHaveLength(0);
    expect(parts().filter((name) => replaced.includes(name))).toEqual([]);
    expect(parts()).toHaveLength(second.length);
  });

  it('reports a source that does not parse, and leaves the bundle before it', async () => {
    await bundle();
    write('src-shared/word.ts', 'export const word: string = ;');
    expect(await bundle()).toMatch(/The program did not build/);
    expect(start()).toBe('program one later\nworker one\n');
  });
});
