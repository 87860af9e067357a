import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { UploadOptions } from '../../src-shared/contract/bridge.ts';
import { Client } from '../client/client.ts';
import type { FoundFile } from './dropped-files.ts';
import { upload, useUploads } from './uploads.ts';

const library = { id: 'l', name: 'Notes' };
const job = { library, maxBytes: 100, tooLarge: 'Too large.' };

const fileAt = (path: string, text = 'x'): FoundFile => ({
  path,
  open: () => Promise.resolve(new File([text], path)),
});

function clientWith(send: (path: string, options: UploadOptions) => Promise<'ok' | 'bad'>): Client {
  return new Client({
    call: () => Promise.reject(new Error('nothing is called here')),
    onEvent: () => () => undefined,
    onConnection: () => () => undefined,
    pathOf: () => undefined,
    upload: async (_, options) => {
      const path = 'libraryId' in options.target ? options.target.path : '';
      if ((await send(path, options)) === 'ok')
        return { ok: true, data: { path, documentId: `id of ${path}` } };
      return { ok: false, error: { code: 'DOCUMENT_UNSUPPORTED', message: 'No.', advice: 'Leave it.' } };
    },
  });
}

describe('upload', () => {
  beforeEach(() => useUploads.setState({ batches: [] }));

  it('what went well leaves the screen by itself; what failed stays to be read', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const client = clientWith((path) => Promise.resolve(path === 'bad' ? 'bad' : 'ok'));
    const { documentIds } = await upload({ ...job, client, files: [fileAt('good')] });
    expect(documentIds).toEqual(['id of good']);
    await upload({ ...job, client, files: [fileAt('bad')] });
    expect(useUploads.getState().batches).toHaveLength(2);
    vi.runAllTimers();
    expect(useUploads.getState().batches.map(({ failed }) => failed.length)).toEqual([1]);
  });

  it('sends every file once, never more than four at a time', async () => {
    let running = 0;
    let most = 0;
    const sent: string[] = [];
    const client = clientWith(async (path) => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, 1));
      running--;
      sent.push(path);
      return 'ok';
    });
    const files = Array.from({ length: 50 }, (_, n) => fileAt(`d/${n}.txt`));
    const batch = await upload({ ...job, client, files });
    expect(most).toBe(4);
    expect(new Set(sent).size).toBe(50);
    expect(batch).toMatchObject({ total: 50, done: 50, failed: [], state: 'finished', counting: false });
    expect(useUploads.getState().batches).toEqual([batch]);
  });

  it('lists failures with their reason and goes on', async () => {
    const client = clientWith(async (path) => (path === 'b.exe' ? 'bad' : 'ok'));
    const files = [fileAt('a.txt'), fileAt('b.exe'), fileAt('c.txt', 'y'.repeat(101)), fileAt('d.txt')];
    const { done, failed } = await upload({ ...job, client, files });
    expect(done).toBe(4);
    expect(failed.toSorted((a, b) => a.path.localeCompare(b.path))).toEqual([
      { path: 'b.exe', failure: { code: 'DOCUMENT_UNSUPPORTED', message: 'No.', advice: 'Leave it.' } },
      { path: 'c.txt', failure: { message: 'Too large.', advice: '' } },
    ]);
  });

  it('stops when it is cancelled, and the files that were left count as neither done nor failed', async () => {
    const client = clientWith(async (_, { signal }) => {
      await new Promise<void>((resolve) => signal?.addEventListener('abort', resolve));
      return 'bad';
    });
    const running = upload({ ...job, client, files: Array.from({ length: 9 }, (_, n) => fileAt(String(n))) });
    await expect.poll(() => useUploads.getState().batches).toMatchObject([{ total: 9 }]);
    const { id } = useUploads.getState().batches[0]!;
    useUploads.getState().cancel(id);
    expect(await running).toMatchObject({ state: 'cancelled', done: 0, failed: [], total: 9 });
    useUploads.getState().dismiss(id);
    expect(useUploads.getState().batches).toEqual([]);
  });
});
