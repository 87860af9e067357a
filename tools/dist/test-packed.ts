// Starts the app that `npm run dist -- --dir` packed and tests it: node tools/dist/test-packed.ts
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Path of the program in the folder that electron-builder unpacks for each system. */
const PROGRAMS: Partial<Record<NodeJS.Platform, string[]>> = {
  linux: ['kvasir'],
  win32: ['Kvasir.exe'],
  darwin: ['Kvasir.app', 'Contents', 'MacOS', 'Kvasir'],
};

const dist = join(root, 'dist');
const program = readdirSync(dist)
  .map((folder) => join(dist, folder, ...(PROGRAMS[process.platform] ?? ['kvasir'])))
  .find((path) => existsSync(path));
if (program === undefined) {
  console.error('There is no packed app in dist/: run `npm run dist -- --dir` first.');
  process.exit(1);
}

const playwright = join(root, 'node_modules', '@playwright', 'test', 'cli.js');
const config = join(root, 'e2e', 'window', 'playwright.config.ts');
const args = [playwright, 'test', '--config', config, '--project', 'electron', '--grep', 'packed'];
// Linux without a display runs it under Xvfb.
const display = process.platform === 'linux' && process.env.DISPLAY === undefined;
const command = [...(display ? ['xvfb-run', '--auto-servernum'] : []), process.execPath, ...args];
const { status } = spawnSync(command[0] ?? '', command.slice(1), {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, KVASIR_PACKED: program },
});
process.exit(status ?? 1);
