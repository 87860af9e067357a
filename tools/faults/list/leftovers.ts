import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { copyDemo } from '../own-model.ts';
import { RunningApp } from '../running-app.ts';
import type { Fault } from '../fault.ts';

const WITHIN = ['.incoming', 'models', 'settings.json', 'backups'];
const LEFT = /\.(part|upload|tmp|databases)$|^restore-(unpacking|ready|applying)$/;

/** Killed while it writes a temporary file, with the remains of earlier kills present. */
export const leftBehind: Fault = {
  name: 'left behind',
  covers: 'a start removes what kills left of uploads, models, downloads, backups, restores and settings',
  async run({ data, random }) {
    const model = join(data, 'model.gguf');
    copyDemo(model);
    for (const path of [
      `models/${randomUUID()}.gguf.part`,
      `models/${randomUUID()}.upload`,
      'backups/Kvasir 2020-01-01 00-00-00.zip.part',
      'backups/Kvasir 2020-01-01 00-00-00.zip.databases/catalogue.sqlite',
      'restore-unpacking/catalogue.sqlite',
      'restore-ready/catalogue.sqlite',
      'restore-applying/old/catalogue.sqlite',
      `settings.json.${random(30_000)}.tmp`,
    ]) {
      mkdirSync(dirname(join(data, path)), { recursive: true });
      writeFileSync(join(data, path), 'half');
    }
    const faults = {
      KVASIR_KILL_AT: String(1 + random(4)),
      KVASIR_FAULTS_IN: WITHIN[random(WITHIN.length)] ?? '',
    };
    const app = await RunningApp.start(data, faults).catch(() => undefined);
    const work = [
      async () => app?.upload((await app.call('libraries.create', { name: 'New' })).id, 'a.txt', 'A text.'),
      () => app?.call('models.import', { path: model, copy: true }),
      () => app?.call('settings.update', { topK: 7 }),
      () => app?.call('app.backup', {}),
    ];
    for (const step of work) await step()?.catch(() => undefined);
    await app?.kill();
    const again = await RunningApp.start(data);
    const names = readdirSync(data, { recursive: true, withFileTypes: true });
    await again.stop();
    const left = names.filter(({ name, parentPath }) => LEFT.test(name) || parentPath.endsWith('.incoming'));
    if (left.length > 0) throw new Error(`left behind: ${left.map(({ name }) => name).join(', ')}`);
  },
};
