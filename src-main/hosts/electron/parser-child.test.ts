import { expect, test } from 'vitest';
import { OUT_OF_MEMORY_MARK, type ParseRequest } from '../../library/parser/protocol.ts';
import { TestDesktop } from './desktop.test-support.ts';

const REQUEST: Omit<ParseRequest, 'id' | 'work'> = {
  path: '/a.txt',
  name: 'a.txt',
  format: 'txt',
  maxBytes: 10,
  knownSha256: undefined,
};

/** The library's own parser over Electron's utility process. */
async function parsing() {
  const { standIn } = new TestDesktop();
  const { ParserProcess } = await import('../../library/parser/parser-process.ts');
  const { spawnParserChild } = await import('./parser-child.ts');
  const parser = new ParserProcess({ maxMemoryBytes: 400 * 1024 * 1024 }, spawnParserChild);
  const outcome = parser.parse(REQUEST);
  await expect.poll(() => standIn.utilities).toHaveLength(1);
  return { standIn, parser, outcome, child: standIn.utilities[0]! };
}

type Child = Awaited<ReturnType<typeof parsing>>['child'];

async function runOutOfMemory(child: Child): Promise<void> {
  child.stderr.write(OUT_OF_MEMORY_MARK);
  await expect.poll(() => child.stderr.readableLength).toBe(0);
  child.emit('exit', 137);
}

test('it is started with a limit of memory, and nothing to write to', async () => {
  const { child, parser, outcome } = await parsing();
  const [path, args, options] = child.fork as [string, string[], Record<string, unknown>];
  expect(path).toMatch(/parser\.js$/);
  expect(args).toEqual([String(400 * 1024 * 1024)]);
  expect(options).toMatchObject({
    execArgv: ['--max-old-space-size=300'],
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  parser.close();
  await expect(outcome).rejects.toMatchObject({ code: 'ABORTED' });
});

test('requests go there and documents come back', async () => {
  const { child, outcome } = await parsing();
  expect(child.posted).toEqual([{ id: 1, work: 'parse', ...REQUEST }]);
  child.emit('message', { id: 1, type: 'text', part: 'Hello' });
  child.emit('message', {
    id: 1,
    type: 'done',
    result: { sha256: 'x', document: { title: 'A', pages: [], warnings: [] } },
  });
  expect(await outcome).toMatchObject({ kind: 'parsed', document: { text: 'Hello', title: 'A' } });
});

test('memory that earlier documents left costs no document: it is read by a new process', async () => {
  const { standIn, parser, outcome, child } = await parsing();
  const result = { sha256: 'x', document: { title: 'A', pages: [], warnings: [] } };
  child.emit('message', { id: 1, type: 'done', result });
  await outcome;
  const next = parser.parse(REQUEST);
  await expect.poll(() => child.posted).toHaveLength(2);
  await runOutOfMemory(child);
  await expect.poll(() => standIn.utilities).toHaveLength(2);
  standIn.utilities[1]?.emit('message', { id: 3, type: 'done', result });
  expect(await next).toMatchObject({ kind: 'parsed' });
});

test('a document that needs more memory than a new process may have says so', async () => {
  const { outcome, child } = await parsing();
  await runOutOfMemory(child);
  await expect(outcome).rejects.toMatchObject({ code: 'DOCUMENT_MEMORY' });
});

test('a process that ends costs the document and says why', async () => {
  const { child, outcome } = await parsing();
  child.emit('exit', 134);
  await expect(outcome).rejects.toMatchObject({
    code: 'DOCUMENT_UNREADABLE',
    message: expect.stringContaining('134') as string,
  });
});
