import { chmodSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { RunningApp } from '../running-app.ts';
import type { Fault } from '../fault.ts';

/** Kvasir restricts the permissions of a data folder that everybody can read. */
export const openFolder: Fault = {
  name: 'open folder',
  covers: 'a data folder that everybody can read is restricted to its owner',
  async run({ data }) {
    const paths = [
      data,
      ...readdirSync(data, { recursive: true, encoding: 'utf8' }).map((name) => join(data, name)),
    ];
    for (const path of paths) chmodSync(path, statSync(path).isDirectory() ? 0o755 : 0o644);
    const app = await RunningApp.start(data);
    await app.stop();
    const open = paths.filter((path) => (statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o077);
    if (process.platform !== 'win32' && open.length > 0) throw new Error(`others may read ${open[0]}`);
  },
};
