/** Mutated documents, read by the process that reads documents in the app. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { KvasirError } from '../../src-shared/errors.ts';
import { messageOf } from '../../src-main/platform/failure.ts';
import { ZipArchive } from '../../src-main/library/formats/zip.ts';
import { formatOf } from '../../src-main/library/formats/formats.ts';
import { ParserProcess, type Parser } from '../../src-main/library/parser/parser-process.ts';
import { randomFrom } from '../../src-main/testing/random.ts';
import { zip } from '../test-documents/zip.ts';
import { mutate, pick } from './mutate.ts';
import { documentSeeds, type Seed } from './seeds.ts';

/** Documents that once broke a rule, named by their hash. Absent while there are none. */
export const FINDINGS = join(import.meta.dirname, '..', 'test-documents', 'fuzzed');

/** For documents of some kilobytes: above, reading one hangs or grows. */
export const LIMITS = { timeoutMs: 20_000, maxMemoryBytes: 512 * 1024 * 1024 };
const MAX_BYTES = 16 * 1024 * 1024;

/** How a mutated document may end, apart from its text. */
const ENDS = [
  'DOCUMENT_TOO_LARGE',
  'DOCUMENT_ENCODING',
  'DOCUMENT_UNREADABLE',
  'DOCUMENT_ENCRYPTED',
  'DOCUMENT_NO_TEXT',
  'DOCUMENT_UNSUPPORTED',
];
/** What a message for people does not contain. */
const SLIPS = /reader crashed|\bundefined\b|\bnull\b|NaN|\[object|Error:|\bat .*:\d+/;

/** A broken rule: which file, and how it ended. */
export interface Finding {
  name: string;
  bytes: Buffer;
  why: string;
}

/**
 * Reads `count` mutations of all formats' seeds. The same seed gives the same documents. `ends`: how many documents were read, and how many
 * ended with each error.
 */
export async function fuzzDocuments(
  count: number,
  seed: number,
  open: () => Parser = () => new ParserProcess(LIMITS),
): Promise<{ findings: Finding[]; ends: Record<string, number> }> {
  const seeds = await documentSeeds();
  const findings: Finding[] = [];
  const ends: Record<string, number> = {};
  let next = 0;
  const lane = async (): Promise<void> => {
    const parser = open();
    try {
      while (next < count) {
        const number = next++;
        const document = await mutated(seeds, seed + number);
        const { end, broken } = await endOf(parser, document);
        ends[end] = (ends[end] ?? 0) + 1;
        if (broken !== undefined) findings.push({ ...document, why: broken });
        if (number % 1000 === 999)
          process.stderr.write(` ${number + 1} documents, ${findings.length} findings\n`);
      }
    } finally {
      parser.close();
    }
  };
  await Promise.all(Array.from({ length: Math.min(4, availableParallelism()) }, lane));
  return { findings, ends };
}

/** Keeps a finding's file for the tests; returns its path. */
export function keepFinding({ name, bytes }: Finding): string {
  mkdirSync(FINDINGS, { recursive: true });
  const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 12);
  const path = join(FINDINGS, name.replace(/^.*\./, `${hash}.`));
  writeFileSync(path, bytes);
  return path;
}

/** Why each kept file breaks a rule; [] if none does. */
export async function keptFindings(): Promise<string[]> {
  const parser = new ParserProcess(LIMITS);
  try {
    const out: string[] = [];
    for (const name of existsSync(FINDINGS) ? readdirSync(FINDINGS) : []) {
      const { broken } = await endOf(parser, { name, bytes: readFileSync(join(FINDINGS, name)) });
      if (broken !== undefined) out.push(`${name}: ${broken}`);
    }
    return out;
  } finally {
    parser.close();
  }
}

async function mutated(seeds: readonly Seed[], number: number): Promise<Seed> {
  const random = randomFrom(number);
  const { name, bytes } = pick(seeds, random);
  const inside = bytes.toString('latin1', 0, 2) === 'PK' && random() < 0.7;
  return { name, bytes: inside ? await mutatedEntry(bytes, random) : mutate(bytes, random) };
}

/** Mutates one entry of an archive, so that its checksums are right. */
async function mutatedEntry(bytes: Buffer, random: () => number): Promise<Buffer> {
  const archive = await ZipArchive.open({ name: 'a seed', bytes });
  const chosen = pick(archive.names, random);
  const entries = await Promise.all(
    archive.names.map(async (name) => {
      const data = (await archive.read(name)) ?? Buffer.alloc(0);
      return { name, data: name === chosen ? mutate(data, random) : data };
    }),
  );
  return zip(entries);
}

/** `broken`: why it is a finding, if it ends neither in a document nor in a documented error. */
export async function endOf(
  parser: Parser,
  { name, bytes }: Seed,
): Promise<{ end: string; broken?: string }> {
  try {
    const request = { path: '', bytes, name, format: formatOf(name), maxBytes: MAX_BYTES };
    await parser.parse({ ...request, knownSha256: undefined });
    return { end: 'read' };
  } catch (error) {
    const { code: end, message } =
      error instanceof KvasirError ? error : { code: 'error', message: messageOf(error) };
    const isFine = ENDS.includes(end) && !SLIPS.test(message);
    return isFine ? { end } : { end, broken: `${end}: ${message}` };
  }
}
