/** The privileges of the process that reads documents: a document that exploits a parser can do no more than this. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
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
  'use a datagram socket': `new (await import('node:dgram')).Socket('udp4').send('x', Number(process.argv[2]), '127.0.0.1'); return true`,
  'look up a name': `const dns = await import('node:dns'); return new Promise((done) => dns.lookup('localhost', (error) => done(!error)))`,
  'look up a name by promise': `await (await import('node:dns/promises')).lookup('localhost'); return true`,
  'ask a name server': `new (await import('node:dns')).Resolver().resolve4('localhost', () => undefined); return true`,
  'start a thread': `new (await import('node:worker_threads')).Worker('1', { eval: true }).unref(); return true`,
  'start a thread of module hooks': `(await import('node:module')).register('data:text/javascript,1'); return true`,
  'send a signal': `process.kill(process.ppid, 0); return true`,
  'wake a debugger': `process._debugProcess(process.pid); return true`,
  'debug itself': `new (await import('node:inspector')).Session().connect(); return true`,
  'use raw bindings': `process.binding('fs'); return true`,
  'write a database': `new (await import('node:sqlite')).DatabaseSync(process.argv[1] + '.db').exec('CREATE TABLE t (x)'); return true`,
  'write by a stream': `const { createReadStream } = await import('node:fs'); return new Promise((done) =>
    createReadStream(process.argv[1] + '.new', { flags: 'w+' }).on('open', () => done(true)).on('error', () => done(false)))`,
  'write by a handle': `await (await import('node:fs/promises')).open(process.argv[1] + '.new', 'w'); return true`,
  'write a report': `process.report.writeReport(process.argv[1] + '.json'); return true`,
  listen: `const server = (await import('node:net')).createServer().listen(0); server.unref(); return true`,
  'see the environment': `return process.env.KVASIR_SECRET !== undefined`,
};

/** As Node starts it, with permissions, and as Electron does, without. */
describe.each(['with permissions', 'without permissions'])('%s', (kind) => {
  let could: Record<string, boolean>;
  beforeAll(async () => {
    could = await attempts(kind === 'with permissions' ? flags() : []);
  });

  test.each(Object.keys(ATTEMPTS))('%s', (name) => {
    expect(could[name]).toBe(name === 'read a file');
  });
});

test('unconfined, each of them can be done', async () => {
  const could = await attempts([], false);
  expect(Object.keys(ATTEMPTS).filter((name) => could[name] !== true)).toEqual([]);
});

function flags(): string[] {
  const child = spawnParser({ maxMemoryBytes: 400 * 1024 * 1024 });
  child.kill('SIGKILL');
  return child.spawnargs.slice(1).filter((arg) => arg.startsWith('--'));
}

async function attempts(args: readonly string[], confined = true): Promise<Record<string, boolean>> {
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
      ${confined ? 'confine();' : ''}
      const could = {};
      for (const [name, attempt] of Object.entries({ ${tries.join(',\n')} }))
        could[name] = await attempt().catch(() => false);
      console.log(JSON.stringify(could));
      process.exit();`;
    const addon = join(import.meta.dirname, '..', '..', '..', 'build', 'native', 'kvasir.node');
    const { port } = server.address() as AddressInfo;
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [...args, '--input-type=module', '-e', source, join(dir, 'document'), String(port), addon],
      { env: { KVASIR_SECRET: 'x' } },
    );
    return JSON.parse(stdout) as Record<string, boolean>;
  } finally {
    server.close();
    rmSync(dir, { recursive: true, force: true });
  }
}
