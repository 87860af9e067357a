import { mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { addedServer, commandLine, shownUrl, splitCommand } from './added-server.ts';
import { ConfigFile } from './config-file.ts';
import { expand, parseEntries, parseServer } from './config.ts';

const DEMO = { command: 'npx', args: ['-y', 'demo'] };

function file(text?: string): ConfigFile {
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-mcp-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  const path = join(dir, 'mcp.json');
  if (text !== undefined) writeFileSync(path, text);
  return new ConfigFile(path);
}

const failure = (code: string, message: RegExp) =>
  expect.objectContaining({ code, message: expect.stringMatching(message) as string }) as Error;

test.each([
  ['mcpServers, as most programs have it', { mcpServers: { demo: DEMO } }, ['mcpServers']],
  ["VS Code's mcp.json", { inputs: [], servers: { demo: DEMO } }, ['servers']],
  ["VS Code's settings", { mcp: { servers: { demo: DEMO } } }, ['mcp', 'servers']],
  ['the servers alone', { demo: DEMO }, []],
])('%s', (_, root, path) => {
  expect(parseEntries(JSON.stringify(root), 'It')).toEqual({ path, entries: { demo: DEMO } });
});

test('comments, trailing commas and a byte order mark are allowed; other keys are no servers', () => {
  const text = '\uFEFF// mine\n{ "mcpServers": { "demo": { "command": "npx", }, } }';
  expect(parseEntries(text, 'It').entries).toEqual({ demo: { command: 'npx' } });
  expect(parseEntries('{ "theme": "dark" }', 'It')).toEqual({ path: ['mcpServers'], entries: {} });
});

test('a text that cannot be parsed says where', () => {
  const text = '{\n  "mcpServers": {\n    "demo": { "command": "npx" "args": [] }\n  }\n}';
  expect(() => parseEntries(text, 'mcp.json')).toThrow(
    failure('MCP_CONFIG', /^mcp\.json, line 3, column 32: comma expected\.$/),
  );
  expect(() => parseEntries('[]', 'It')).toThrow(failure('MCP_CONFIG', /not a JSON object/));
  expect(() => parseEntries('{"mcpServers": []}', 'It')).toThrow(failure('MCP_CONFIG', /mcpServers is not/));
});

test('an entry is a program or an address, by the names that programs use', () => {
  expect(parseServer({ command: 'npx', env: { PORT: 1, ON: true }, timeout: 5 }, 'x')).toEqual({
    command: 'npx',
    args: [],
    env: { PORT: '1', ON: 'true' },
  });
  for (const key of ['url', 'serverUrl', 'httpUrl'])
    expect(parseServer({ [key]: 'https://a.example/mcp' }, 'x')).toEqual({
      url: 'https://a.example/mcp',
      headers: {},
    });
});

test.each([
  [{ args: [] }, /^x has neither "command" nor "url"\.$/],
  [{ command: 'a', args: 'b' }, /^x: args: /],
  [{ command: ['a'] }, /^x: command: /],
  [{ url: 'file:///etc/passwd' }, /^x: url: not an http/],
  [null, /^x has neither/],
])('an invalid entry is named: %j', (entry, message) => {
  expect(() => parseServer(entry, 'x')).toThrow(failure('MCP_CONFIG', message));
});

test('an error never contains a value of the environment', () => {
  expect(() => parseServer({ command: 'a', env: { KEY: ['sk-secret'] } }, 'x')).toThrow(
    failure('MCP_CONFIG', /^(?!.*sk-secret)x: env\.KEY: /),
  );
});

test('variables are replaced, and named where they cannot be', () => {
  const env = { HOME_OF: '/h', EMPTY: '' };
  expect(expand('${HOME_OF}/a ${env:HOME_OF} ${NONE:-b} [${EMPTY}] ${userHome} $x', 'args', env)).toBe(
    `/h/a /h b [] ${homedir()} $x`,
  );
  expect(() => expand('${NONE}', 'args', env)).toThrow(
    failure('MCP_CONFIG', /args contains \$\{NONE\}.*not set/),
  );
  expect(() => expand('${input:key}', 'env.KEY', env)).toThrow(failure('MCP_CONFIG', /\$\{input:key\}/));
});

test('a change keeps everything else of the file, comments too', () => {
  const config = file(
    '{\n  // of the team\n  "mcpServers": { "old": { "command": "a", "autoApprove": ["x"] } },\n  "n": 1\n}\n',
  );
  config.add({ demo: DEMO });
  config.enable('old', false);
  const text = readFileSync(config.path, 'utf8');
  expect(text).toContain('// of the team');
  expect(text).toContain('"n": 1');
  expect(config.read().entries).toEqual({
    old: { command: 'a', autoApprove: ['x'], disabled: true },
    demo: DEMO,
  });
  config.enable('old', true);
  config.remove('demo');
  expect(config.read().entries).toEqual({ old: { command: 'a', autoApprove: ['x'] } });
});

test('the first server makes the file; a taken name is refused', () => {
  const config = file();
  config.add({ demo: DEMO });
  expect(JSON.parse(readFileSync(config.path, 'utf8'))).toEqual({ mcpServers: { demo: DEMO } });
  expect(() => config.add({ other: DEMO, demo: DEMO })).toThrow(failure('CONFLICT', /named demo/));
  expect(Object.keys(config.read().entries)).toEqual(['demo']);
  expect(() => config.remove('none')).toThrow(failure('NOT_FOUND', /named none/));
});

test('a damaged file is never written', () => {
  const config = file('{ "mcpServers": ');
  const before = readFileSync(config.path, 'utf8');
  expect(() => config.add({ demo: DEMO })).toThrow(failure('MCP_CONFIG', /line 1, column 17/));
  expect(() => config.enable('demo', false)).toThrow(failure('MCP_CONFIG', /line 1/));
  expect(readFileSync(config.path, 'utf8')).toBe(before);
});

test.skipIf(process.platform === 'win32')('a linked file stays a link, and only its user can read it', () => {
  const { path: target } = file('{}');
  const config = file();
  symlinkSync(target, config.path);
  const mask = process.umask(0o077);
  try {
    config.add({ demo: DEMO });
  } finally {
    process.umask(mask);
  }
  expect(JSON.parse(readFileSync(target, 'utf8'))).toEqual({ mcpServers: { demo: DEMO } });
  expect(statSync(target).mode & 0o777).toBe(0o600);
});

test('a server as typed', () => {
  const typed = { name: 'a', kind: 'command' as const, secrets: 'KEY=a=b\n\nOTHER = c ' };
  expect(addedServer({ ...typed, target: `npx -y "@a/b c" 'd "e"' C:\\x` })).toEqual({
    command: 'npx',
    args: ['-y', '@a/b c', 'd "e"', 'C:\\x'],
    env: { KEY: 'a=b', OTHER: 'c' },
  });
  const url = { name: 'a', kind: 'url' as const, target: 'https://a.example/mcp', secrets: 'X-Key: a:b' };
  expect(addedServer(url)).toEqual({ type: 'http', url: url.target, headers: { 'X-Key': 'a:b' } });
  expect(() => addedServer({ ...url, target: 'a.example' })).toThrow(failure('BAD_ARGUMENT', /http/));
  expect(() => addedServer({ ...url, secrets: '\nsk-secret' })).toThrow(
    failure('BAD_ARGUMENT', /^Line 2 is not of the form Name: value\.$/),
  );
  expect(() => splitCommand('a "b')).toThrow(failure('BAD_ARGUMENT', /quote/));
});

test('a server as shown', () => {
  const args = ['-y', 'b c', 'd"e'];
  const line = commandLine({ command: 'npx', args, env: {} });
  expect(splitCommand(line)).toEqual(['npx', ...args]);
  expect(shownUrl('https://me:pw@a.example/mcp?key=sk#x')).toBe('https://a.example/mcp');
});
