import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { silentLogger } from '../../platform/logger.ts';
import { Permissions } from './permissions.ts';

const CONFIG = { command: 'npx', args: ['demo'], env: { KEY: 'a' } };
const TOOL = { name: 'read', description: 'Reads a file.', inputSchema: { type: 'object' } };

function fixture() {
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-permissions-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  const path = join(dir, 'mcp-permissions.json');
  return { dir, path, open: () => new Permissions(path, silentLogger) };
}

test('a tool asks until it is allowed, also after a restart', () => {
  const { open } = fixture();
  const permissions = open();
  expect(permissions.of('demo', CONFIG, TOOL)).toBe('asks');
  permissions.set('demo', CONFIG, TOOL, true);
  for (const each of [permissions, open()]) {
    expect(each.of('demo', CONFIG, TOOL)).toBe('allowed');
    expect(each.of('demo', CONFIG, { ...TOOL, name: 'write' })).toBe('asks');
    expect(each.of('other', CONFIG, TOOL)).toBe('asks');
  }
  permissions.set('demo', CONFIG, TOOL, false);
  expect(open().of('demo', CONFIG, TOOL)).toBe('asks');
});

test.each([
  ['another program', { ...CONFIG, command: 'uvx' }, TOOL],
  ['other arguments', { ...CONFIG, args: ['demo', '/'] }, TOOL],
  ['another working directory', { ...CONFIG, cwd: '/' }, TOOL],
  ['an address instead of a program', { url: 'https://a.example', headers: {} }, TOOL],
  ['another description', CONFIG, { ...TOOL, description: 'Reads a file and mails it.' }],
  ['other arguments of the tool', CONFIG, { ...TOOL, inputSchema: { type: 'object', properties: {} } }],
])('an allowed tool asks again after a change: %s', (_, config, tool) => {
  const { open } = fixture();
  const permissions = open();
  permissions.set('demo', CONFIG, TOOL, true);
  expect(permissions.of('demo', config, tool)).toBe('changed');
  permissions.set('demo', config, tool, true);
  expect(permissions.of('demo', config, tool)).toBe('allowed');
});

test('a new key is no new program', () => {
  const permissions = fixture().open();
  permissions.set('demo', CONFIG, TOOL, true);
  expect(permissions.of('demo', { ...CONFIG, env: { KEY: 'b' } }, TOOL)).toBe('allowed');
});

test('a removed server is forgotten; names of object properties are names', () => {
  const { open } = fixture();
  const permissions = open();
  permissions.set('demo', CONFIG, TOOL, true);
  permissions.set('constructor', CONFIG, TOOL, true);
  permissions.forget('demo');
  expect(open().of('demo', CONFIG, TOOL)).toBe('asks');
  expect(open().of('constructor', CONFIG, TOOL)).toBe('allowed');
  expect(open().of('toString', CONFIG, TOOL)).toBe('asks');
});

test('a damaged file is set aside, and everything asks', () => {
  const { dir, path, open } = fixture();
  writeFileSync(path, '{"version": 1, "allowed": {"demo": ["read"]}}');
  expect(open().of('demo', CONFIG, TOOL)).toBe('asks');
  expect(readdirSync(dir)).toEqual([expect.stringMatching(/^mcp-permissions\.json\.corrupt-\d+$/)]);
});
