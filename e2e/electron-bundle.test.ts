/**
 * Setup's bundle for Electron, run by Node on an Electron double: checks that the bundle finds the engine, the resources, the window and
 * its packages at its location. e2e/window/electron.spec.ts tests Electron itself.
 */
import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { otherModel } from '../tools/random-model/other-models.ts';
import type { MeasuredDevice } from '../src-main/devices/trial/protocol.ts';
import { DEMO_MODEL, removeDir, ROOT, tempDir } from './cli-support.ts';

const BUILT = existsSync(join(ROOT, 'out', 'renderer', 'index.html'));
const CHILD = join(import.meta.dirname, 'support', 'electron-bundle-child.ts');
const PORT = join(import.meta.dirname, 'support', 'parser-port.ts');

let dir: string;

beforeAll(() => {
  dir = tempDir();
});
afterAll(() => removeDir(dir));

describe.skipIf(!BUILT)('the bundle for Electron', () => {
  test('starts with the real engine, shows the window, answers it, and closes', async () => {
    const child = spawn(process.execPath, [CHILD, join(dir, 'data')], { stdio: ['ignore', 'pipe', 'pipe'] });
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
    expect(stderr).toBe('');
    const seen = JSON.parse(stdout) as Record<string, unknown>;
    expect(seen['errors']).toEqual([]);
    expect(seen['page']).toMatch(/<script type="module" crossorigin src="\.\/assets\//);
    expect(seen['info']).toMatchObject({ ok: true, data: { host: 'electron', nativeDialogs: true } });
    expect(seen['libraries']).toMatchObject({ ok: true, data: [{ sample: true }] });
    expect(seen['suggestions']).toMatchObject({ ok: true });
    expect(seen['ended']).toEqual(['quit']);
  });

  test('its parser reads documents and answers through its port', async () => {
    const path = join(dir, 'page.html');
    writeFileSync(path, '<title>A page</title><p>Bundled, and still read.</p>');
    const parser = fork(join(ROOT, 'out', 'main', 'parser.js'), [String(512 * 1024 * 1024)], {
      execArgv: ['--import', PORT],
      serialization: 'advanced',
    });
    try {
      const replies: { type: string; part?: string }[] = [];
      parser.on('message', (reply) => replies.push(reply as { type: string }));
      parser.send({ id: 1, work: 'parse', path, name: 'page.html', format: 'html', maxBytes: 1e6 });
      while (!replies.some(({ type }) => type === 'done' || type === 'failed')) await once(parser, 'message');
      expect(replies.map(({ type }) => type)).toEqual(['text', 'done']);
      expect(replies[0]?.part).toContain('Bundled, and still read.');
      expect(replies[1]).toMatchObject({ result: { document: { title: 'A page' } } });
    } finally {
      parser.kill();
    }
  });

  test('its process for tables finds SQLite, and answers through its port', async () => {
    const memory = String(512 * 1024 * 1024);
    const query = fork(join(ROOT, 'out', 'main', 'query.js'), [memory], { execArgv: ['--import', PORT] });
    try {
      query.send({ sql: 'SELECT 1 AS one', tables: [], rows: '[]' });
      const [reply] = (await once(query, 'message')) as [unknown];
      expect(reply).toEqual({ result: { columns: ['one'], rows: [[1]], truncated: false } });
    } finally {
      query.kill();
    }
  });

  test('its model test process finds the engine, and answers through its port', async () => {
    const trial = fork(join(ROOT, 'out', 'main', 'trial.js'), [], { execArgv: ['--import', PORT] });
    try {
      const path = otherModel('mamba', dir);
      trial.send({ path, name: 'mamba', role: 'chat', threads: 1, device: 'cpu', packs: [] });
      const [reply] = (await once(trial, 'message')) as [unknown];
      expect(reply).toEqual({ failure: null });
    } finally {
      trial.kill();
    }
  });

  test('its GPU test process measures a device, and answers through its port', async () => {
    const trial = fork(join(ROOT, 'out', 'main', 'device-trial.js'), [], { execArgv: ['--import', PORT] });
    try {
      trial.send({ ask: 'try', pack: null, device: 'CPU', model: DEMO_MODEL });
      const [reply] = (await once(trial, 'message')) as [{ measured?: MeasuredDevice }];
      expect(reply.measured?.wrong).toBe('');
      expect(reply.measured?.tokensPerSecond).toBeGreaterThan(0);
    } finally {
      trial.kill();
    }
  });
});
