/** The privileges of the process that reads documents: a document that exploits a parser can do no more than this. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import { spawnParser } from './spawn.ts';

/** Each attempts one action and reports whether it succeeded. */
const ATTEMPTS = {
  'read a file': `(await import('node:fs')).readFileSync(process.argv[1]); return true`,
  'write a file': `(await import('node:fs')).writeFileSync(process.argv[1] + '.new', 'x'); return true`,
  'delete a file': `(await import('node:fs')).rmSync(process.argv[1]); return true`,
  'start a program': `return (await import('node:child_process')).spawnSync('true').error === undefined`,
  'load native code': `process.dlopen({ exports: {} }, process.argv[3]); return true`,
  'open a connection': `const socket = (await import('node:net')).connect(Number(process.argv[2]), '127.0.0.1');
    return new Promise((resolve) => socket.on('connect', () => resolve(true)).on('error', () => resolve(false)))`,
  fetch: `return (await fetch('http://127.0.0.1:' + process.argv[2])).ok`,
  'ask over HTTP': `return new Promise((resolve, reject) => { import('node:http').then((http) =>
    http.get('http://127.0.0.1:' + process.argv[2], () => resolve(true)).on('error', () => resolve(false))).catch(reject) })`,
  'send datagrams': `(await import('node:dgram')).createSocket('udp4').unref(); return true`,
  listen: `const server = (await import('node:net')).createServer().listen(0); server.unref(); return true`,
  'see the environment': `return process.env.KVASIR_SECRET !== undefined`,
};

let could: Record<string, boolean>;
beforeAll(async () => {
  const child = spawnParser({ maxMemoryBytes: 400 * 1024 * 1024 });
  const flags = child.spawnargs.slice(1).filter((arg) => arg.startsWith('--'));
  child.kill('SIGKILL');
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-confined-'));
  const server = createServer((_request, response) => response.end('ok')).listen(0, '127.0.0.1');
  try {
    await new Promise((resolve) => server.once('listening', resolve));
    writeFileSync(join(dir, 'document'), 'x');
    const tries = Object.entries(ATTEMPTS).map(
      ([name, body]) => `${JSON.stringify(name)}: async () => { ${body} }`,
    );
    const source = `
      import { confine } from ${JSON.stringify(new URL('./confine.ts', import.meta.url).href)};
      confine();
      const could = {};
      for (const [name, attempt] of Object.entries({ ${tries.join(',\n')} }))
        could[name] = await attempt().catch(() => false);
      console.log(JSON.stringify(could));`;
    const addon = join(import.meta.dirname, '..', '..', '..', 'build', 'native', 'kvasir.node');
    const { port } = server.address() as AddressInfo;
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [...flags, '--input-type=module', '-e', source, join(dir, 'document'), String(port), addon],
      { env: { KVASIR_SECRET: 'x' } },
    );
    could = JSON.parse(stdout) as Record<string, boolean>;
  } finally {
    server.close();
    rmSync(dir, { recursive: true, force: true });
  }
});

test.each(Object.keys(ATTEMPTS))('%s', (name) => {
  expect(could[name]).toBe(name === 'read a file');
});
