/** electron-builder's settings. Its default scripts remove what it has installed, nothing else. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { expect, test } from 'vitest';
import { ROOT } from '../setup/platform.mjs';

test('uninstalling keeps the data folder: no script of ours runs, and the installer removes none', () => {
  const settings = load(readFileSync(join(ROOT, 'electron-builder.yml'), 'utf8')) as Record<string, object>;
  expect(settings['nsis']).toMatchObject({ deleteAppDataOnUninstall: false });
  for (const target of ['nsis', 'linux', 'deb', 'mac', 'win'])
    for (const script of ['script', 'include', 'afterRemove', 'afterInstall'])
      expect(settings[target] ?? {}, target).not.toHaveProperty(script);
});
