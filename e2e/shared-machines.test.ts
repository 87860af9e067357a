/** Machines that share a cache, each with a separate data folder, the first one a process: the real engine and demo model. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { SharingSecret } from '../src-shared/contract/sharing.ts';
import type { PrecomputeReport } from '../src-shared/library.ts';
import { SharingSecrets } from '../src-main/sharing/secrets.ts';
import { noRedis, startRedis } from '../src-main/testing/redis-server.ts';
import { TestS3 } from '../src-main/testing/s3-server.ts';
import {
  DOCUMENTS,
  QUESTION,
  removeDir,
  runCli,
  tempDir,
  writeFiles,
  type CliResult,
} from './cli-support.ts';
import { runHere } from './support/in-process.ts';

let dir: string;
let library: string;

beforeAll(() => {
  dir = tempDir();
  library = writeFiles(join(dir, 'notes'), DOCUMENTS);
});
afterAll(() => removeDir(dir));

/** Settings and secrets of one team's machines. */
interface Place {
  sharing: Record<string, unknown>;
  secrets?: Partial<Record<SharingSecret, string>>;
}

const PASSPHRASE = { encryptionKey: 'of the team', salt: 'and its names' };

function folderPlace(): string {
  const path = join(dir, randomBytes(4).toString('hex'));
  mkdirSync(path);
  return path;
}

const PLACES: Record<string, { skipped?: string | undefined; make: () => Promise<Place> }> = {
  'a folder': {
    make: () => Promise.resolve({ sharing: { kind: 'folder', folder: { path: folderPlace() } } }),
  },
  'Redis, encrypted': {
    skipped: noRedis,
    make: async () => {
      const redis = await startRedis({ password: 'of the server' });
      onTestFinished(() => redis.stop());
      return {
        sharing: { kind: 'redis', redis: { host: '127.0.0.1', port: redis.port, tls: false } },
        secrets: { password: 'of the server', ...PASSPHRASE },
      };
    },
  },
  'S3, encrypted': {
    make: async () => {
      const server = await TestS3.start();
      onTestFinished(() => server.stop());
      const { address: endpoint, bucket, accessKeyId, secretAccessKey } = server;
      return {
        sharing: { kind: 's3', s3: { endpoint, bucket, accessKeyId } },
        secrets: { secretAccessKey, ...PASSPHRASE },
      };
    },
  },
};

/** A data folder configured for a place. */
async function machine({ sharing, secrets = {} }: Place): Promise<string> {
  const data = join(dir, randomBytes(4).toString('hex'));
  mkdirSync(data);
  writeFileSync(join(data, 'settings.json'), JSON.stringify({ sharing }));
  const kept = new SharingSecrets(join(data, 'sharing-secrets.json'));
  for (const [name, secret] of Object.entries(secrets)) await kept.set(name as SharingSecret, secret);
  return data;
}

/** Asks; returns the answer, its chunk statistics and stderr. */
async function ask(data: string, run: (args: string[]) => Promise<CliResult> = runHere) {
  const flags = ['--library', library, '--max-tokens', '12', '--strategy', 'none', '--json'];
  const { code, stdout, stderr } = await run(['ask', '--data', data, ...flags, QUESTION]);
  expect(code, stderr).toBe(0);
  const {
    answer,
    sources,
    library: read,
  } = JSON.parse(stdout) as {
    answer: string;
    sources: { document: string; tier: string }[];
    library: { precomputed: PrecomputeReport };
  };
  return { answer, sources, precomputed: read.precomputed, stderr };
}

describe.each(Object.entries(PLACES))('over %s', (_, { skipped, make }) => {
  test.skipIf(skipped !== undefined)(
    `the second machine computes no chunk, and gives the same answer${skipped === undefined ? '' : ` (skipped: ${skipped})`}`,
    async () => {
      const place = await make();
      const first = await ask(await machine(place), runCli);
      const { computed, chunks } = first.precomputed;
      expect(computed).toBeGreaterThan(2);
      expect(first.precomputed).toMatchObject({ computed: chunks, fetched: 0 });
      const second = await ask(await machine(place));
      expect(second.precomputed).toMatchObject({ computed: 0, fetched: computed, tokens: 0, chunks });
      expect(second.sources.map(({ tier }) => tier)).not.toContain('computed');
      expect({ answer: second.answer, sources: second.sources }).toEqual({
        answer: first.answer,
        sources: first.sources,
      });
      expect(first.stderr + second.stderr).not.toContain('Note:');
    },
  );
});

test.each([
  ['', undefined],
  ['encrypted, ', PASSPHRASE],
])('%sa corrupted value in a folder is not used, is reported, and is rewritten', async (_, secrets) => {
  const path = folderPlace();
  const place: Place = { sharing: { kind: 'folder', folder: { path } }, ...(secrets && { secrets }) };
  const first = await ask(await machine(place), runCli);
  const [name] = readdirSync(path, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.kvs'),
  );
  const value = readFileSync(join(path, name!));
  value.writeUInt8(value.readUInt8(value.length - 3) ^ 1, value.length - 3);
  writeFileSync(join(path, name!), value);
  const data = await machine(place);
  const second = await ask(data);
  expect(second.stderr).toContain(`Note: ${path} returned a damaged value; it is not used.`);
  expect(second.precomputed.computed).toBeGreaterThan(0);
  expect(second.answer).toBe(first.answer);
  const verified = await runHere(['cache', 'verify', '--json', '--data', data]);
  expect(JSON.parse(verified.stdout)).toMatchObject({ ok: first.precomputed.chunks, corrupt: [] });
  const third = await ask(await machine(place));
  expect(third.precomputed).toMatchObject({ computed: 0, fetched: first.precomputed.chunks });
  expect(third.stderr).not.toContain('Note:');
});

test('a missing place is reported, and everything is computed', async () => {
  const path = join(dir, 'nowhere');
  const { precomputed, stderr } = await ask(await machine({ sharing: { kind: 'folder', folder: { path } } }));
  expect(stderr).toContain(
    `Note: Folder not found: ${path}. Check that the network drive is connected, and the path.`,
  );
  expect(precomputed).toMatchObject({ computed: precomputed.chunks, fetched: 0 });
});
