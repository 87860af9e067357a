/** Containers: ZIP documents and backups with hostile names, copies, bombs and wrong tables of contents; mail within mail. */
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { readBackup } from '../../../src-main/backup/read-backup.ts';
import { Catalogue } from '../../../src-main/catalogue/catalogue.ts';
import { SCHEMAS } from '../../../src-main/databases.ts';
import { ZipArchive } from '../../../src-main/library/formats/zip.ts';
import { ParserProcess } from '../../../src-main/library/parser/parser-process.ts';
import { KvasirError } from '../../../src-shared/errors.ts';
import { zip, type ZipEntry } from '../../test-documents/zip.ts';
import { endOf, LIMITS } from '../documents.ts';
import { mutateJson, written } from '../json.ts';
import { mutate, pick, type Random } from '../mutate.ts';
import type { Target } from '../search.ts';
import { documentSeeds } from '../seeds.ts';

interface Input {
  /** A document's extension chooses its parser; a backup is "backup.zip". */
  name: string;
  /** Base64. */
  bytes: string;
}

interface Container {
  name: string;
  entries: readonly ZipEntry[];
}

const NAMES = [
  ...[
    '../x',
    '/x',
    'C:\\x',
    '..\\x',
    'a\u0000b',
    '',
    '.',
    '..',
    './content.xml',
    'con',
    'x'.repeat(300),
    'a/'.repeat(500),
  ],
  ...[
    'libraries/1/a.txt',
    'libraries/1/A.TXT',
    'libraries/1/a.txt/b',
    'libraries/1/../../x',
    'libraries/1//x',
  ],
  ...[
    `libraries/1/${'x'.repeat(300)}`,
    `libraries/${'a/'.repeat(2500)}b`,
    'libraries/1/\u00e9',
    'libraries/1/e\u0301',
  ],
  ...[
    '[Content_Types].xml',
    'META-INF/container.xml',
    'mimetype',
    '文.xml',
    '__proto__',
    'word/../word/document.xml',
  ],
];
/** Unpacks to more than a document may. */
const BOMB = Buffer.alloc(80 * 1024 * 1024);

export async function openArchives(): Promise<Target> {
  const scratch = mkdtempSync(join(tmpdir(), 'kvasir-fuzz-archives-'));
  const parser = new ParserProcess(LIMITS);
  onTestFinished(() => {
    parser.close();
    rmSync(scratch, { recursive: true });
  });
  const documents = await zipSeeds();
  const backup = backupSeed(scratch);
  return {
    make: (random) => JSON.stringify(make(documents, backup, random)),
    run: async (text) => {
      const { name, bytes } = JSON.parse(text) as Input;
      const data = Buffer.from(bytes, 'base64');
      if (name === 'backup.zip') return restore(scratch, data);
      const { end, broken } = await endOf(parser, { name, bytes: data });
      if (broken !== undefined) throw new Error(broken);
      return end;
    },
    mostMs: 3000,
    inputs: 60,
    reaches: ['read', 'DOCUMENT_UNREADABLE', 'restored', 'BACKUP_INVALID'],
  };
}

async function zipSeeds(): Promise<Container[]> {
  const zips = (await documentSeeds()).filter(({ bytes }) => bytes.toString('latin1', 0, 2) === 'PK');
  return Promise.all(
    zips.map(async ({ name, bytes }) => {
      const archive = await ZipArchive.open({ name, bytes });
      const entries = archive.names.map(async (entry) => ({
        name: entry,
        data: (await archive.read(entry)) ?? Buffer.alloc(0),
      }));
      return { name, entries: await Promise.all(entries) };
    }),
  );
}

/** The files of a backup, without their manifest. */
function backupSeed(scratch: string): Container {
  const path = join(scratch, 'catalogue.sqlite');
  Catalogue.open(path, () => undefined).close();
  const entries = [
    { name: 'catalogue.sqlite', data: readFileSync(path) },
    { name: 'settings.json', data: Buffer.from('{}') },
    { name: 'libraries/1/a.txt', data: Buffer.from('Weir') },
  ];
  rmSync(path);
  return { name: 'backup.zip', entries };
}

function make(documents: readonly Container[], backup: Container, random: Random): Input {
  const kind = random();
  if (kind < 0.2) return { name: 'a.eml', bytes: Buffer.from(mail(random, 0)).toString('base64') };
  const { name, entries } = kind < 0.5 ? backup : pick(documents, random);
  const changed = changedEntries(entries, random);
  const whole = zip(name === 'backup.zip' ? [manifestOf(changed, random), ...changed] : changed);
  const bytes = random() < 0.3 ? withDamagedDirectory(whole, random) : whole;
  return { name, bytes: bytes.toString('base64') };
}

function changedEntries(entries: readonly ZipEntry[], random: Random): ZipEntry[] {
  const changed = [...entries];
  for (let n = Math.floor(random() * 4); n > 0; n--) {
    const at = Math.floor(random() * changed.length);
    const entry = pick(changed, random);
    const changes: (() => void)[] = [
      () => (changed[at] = { ...entry, name: pick(NAMES, random) }),
      () => changed.push({ ...entry, name: pick(NAMES, random) }),
      () => changed.push({ ...entry, data: mutate(Buffer.from(entry.data), random) }),
      () => (changed[at] = { ...entry, data: zip(changed.slice(0, 9)) }),
      () => (changed[at] = { ...entry, announcedBytes: pick([0, 1, 2 ** 31, 2 ** 32 - 1], random) }),
      () => (changed[at] = { ...entry, encrypted: true }),
      () => (changed[at] = { ...entry, data: random() < 0.2 ? BOMB : '' }),
      () => changed.length > 1 && changed.splice(at, 1),
    ];
    pick(changes, random)();
  }
  return changed;
}

function manifestOf(entries: readonly ZipEntry[], random: Random): ZipEntry {
  const files = entries.map(({ name, data }) => {
    const bytes = Buffer.from(data);
    return { name, bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') };
  });
  const manifest = { kind: 'kvasir-backup', version: 1, createdMs: 1, program: '1', dataDir: '/x', files };
  return { name: 'manifest.json', data: written(random() < 0.2 ? mutateJson(manifest, random) : manifest) };
}

/** The table of contents is at the end of the file. */
function withDamagedDirectory(bytes: Buffer, random: Random): Buffer {
  const from = Math.max(0, bytes.length - pick([30, 150, 600], random));
  return Buffer.concat([bytes.subarray(0, from), mutate(bytes.subarray(from), random)]);
}

function mail(random: Random, depth: number): string {
  const boundary = pick(['b', 'b', 'bb', '', '=_"x"', 'x'.repeat(300)], random);
  const inner = (): string => (random() < 0.95 ** depth ? mail(random, depth + 1) : 'text');
  const parts = [
    () => `Content-Type: message/rfc822\n\n${depth < 60 ? inner() : 'text'}`,
    () => `Content-Type: text/plain; charset=${pick(['utf-8', 'x', 'utf-7', '=?'], random)}\n\nWeir`,
    () =>
      `Content-Disposition: attachment; filename="${pick(NAMES, random)}"\nContent-Transfer-Encoding: base64\n\n====`,
    () => `Content-Type: multipart/mixed; boundary=b\n\n--b\n\n--b--`,
    () => 'Content-Transfer-Encoding: quoted-printable\n\n=\n=3D=Z',
  ];
  const count = depth === 0 && random() < 0.05 ? 2000 : 1 + Math.floor(random() * 2);
  const list = Array.from({ length: count }, () => `--${boundary}\n${pick(parts, random)()}\n`).join('');
  return `From: a@b.c\nSubject: ${pick(['Weir', '=?utf-8?B?====?=', ''], random)}\nContent-Type: multipart/mixed; boundary="${boundary}"\n\n${list}--${boundary}--\n`;
}

/** Nothing may be written outside of the folder, whatever the backup says. */
async function restore(scratch: string, bytes: Buffer): Promise<string> {
  const [parent, path] = [join(scratch, 'inside'), join(scratch, 'backup.zip')];
  const dir = join(parent, 'restored');
  rmSync(parent, { recursive: true, force: true });
  mkdirSync(dir, { recursive: true });
  writeFileSync(path, bytes);
  const end = await readBackup(path, { dir, schemas: SCHEMAS }).then(
    () => 'restored',
    (error: unknown) => {
      if (error instanceof KvasirError) return error.code;
      throw error;
    },
  );
  const found = [...readdirSync(scratch), ...readdirSync(parent)].sort().join();
  if (found !== 'backup.zip,inside,restored') throw new Error(`it wrote ${found}`);
  if (!['restored', 'BACKUP_INVALID', 'DISK_FULL'].includes(end)) throw new Error(end);
  return end;
}
