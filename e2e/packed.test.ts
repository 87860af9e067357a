/**
 * The output of `npm run dist`, with a placeholder for Electron's own files: it has everything that the app needs and nothing else, and
 * answers a question from its location. CI starts the packed app itself.
 */
import { execFileSync, spawn } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { extractAll, extractFile, listPackage } from '@electron/asar';
import { FuseV1Options, getCurrentFuseWire } from '@electron/fuses';
import { utils, write } from '@e965/xlsx';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addressIn, askNpm } from '../src-main/devices/packs/registry.ts';
import { paragraph, wordFile } from '../src-main/testing/office-files.ts';
import { at, pdfFile } from '../src-main/testing/pdf-file.ts';
import { bundledPackages, packedPackages } from '../tools/dist/packages.ts';
import { removeDir, ROOT, tempDir } from './cli-support.ts';

const PACKS = process.platform === 'linux' && existsSync(join(ROOT, 'out', 'renderer', 'index.html'));
const CHILD = join(import.meta.dirname, 'support', 'packed-child.ts');
/** Pictures of text, and a word of each. */
const PAGES = join(ROOT, 'tools', 'test-documents', 'pages');
const RECOGNISED: Record<string, string> = {
  'scan.jpg': 'Altstadt',
  'scan.pdf': 'Altstadt',
  'photo.heic': 'coffee',
};
const MB = 1e6;
/** States of a fuse, as @electron/fuses reads them. */
const [OFF, ON] = [48, 49];
/** Size limit of the archive with its unpacked files; Electron's own files are not included. */
const BUDGET = 106 * MB;

let dir: string;
let resources: string;
let archived: string[];

/** A file that electron-builder accepts as Electron: it contains the fuse wire (@electron/fuses). */
function standInForElectron(folder: string): string {
  mkdirSync(folder);
  const wire = Buffer.from([1, 9, ...Buffer.from('1'.repeat(9))]);
  const fuses = Buffer.concat([Buffer.from('dL7pKGdnNz796PbbjQWNKmHXBZaB9tsX'), wire]);
  writeFileSync(join(folder, 'electron'), Buffer.concat([Buffer.from('#!/bin/sh\nexit 1\n'), fuses]), {
    mode: 0o755,
  });
  const { version } = JSON.parse(
    readFileSync(join(ROOT, 'node_modules', 'electron', 'package.json'), 'utf8'),
  ) as { version: string };
  writeFileSync(join(folder, 'version'), version);
  return folder;
}

/** Documents whose readers load different packages. */
async function documentsOfKinds(): Promise<Record<string, Buffer>> {
  const jpeg = readFileSync(join(PAGES, 'de.jpg'));
  const resources = '/XObject << /Scan 10 0 R >>';
  const picture = [
    '/Type /XObject /Subtype /Image /Width 1360 /Height 300 /ColorSpace /DeviceGray /BitsPerComponent 8 /Filter /DCTDecode',
    jpeg.toString('latin1'),
  ] as const;
  const sheet = utils.aoa_to_sheet([
    ['Town', 'Brücke'],
    ['Orm', 7],
  ]);
  const book = utils.book_new();
  utils.book_append_sheet(book, sheet, 'Bridges');
  return {
    'page.pdf': pdfFile([at(72, 700, 'Die Brücke in Orm')]),
    'scan.jpg': jpeg,
    'photo.heic': readFileSync(join(PAGES, 'en.heic')),
    'scan.pdf': pdfFile([{ content: 'q 500 0 0 110 40 600 cm /Scan Do Q', resources }], {
      objects: [picture],
    }),
    'letter.docx': await wordFile(paragraph('Die Brücke in Orm')),
    'old.xls': write(book, { type: 'buffer', bookType: 'biff8' }) as Buffer,
    'table.xlsx': write(book, { type: 'buffer', bookType: 'xlsx' }) as Buffer,
    'mail.eml': Buffer.from('From: ida@example.org\nSubject: =?utf-8?Q?Br=C3=BCcke?=\n\nIn Orm.\n'),
    'page.html': Buffer.from('<p>Die Br&uuml;cke in Orm'),
    'notes.md': Buffer.from('---\ntitle: Orm\ntown: Brücke\n---\n\nOne.\n'),
    'dos.txt': Buffer.from('Die Br\x81cke \x81ber die Esk ist gesperrt. Gr\x94\xe1e: 40 m.', 'latin1'),
  };
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => !statSync(join(folder, file)).isDirectory())
    .map((file) => file.replaceAll('\\', '/'));
}

/**
 * Extracts the archive to a folder of the same name, to match Electron's view: files next to the archive are not part of it, except that
 * packages find their own unpacked files there.
 */
function layOut(): string {
  const app = join(dir, 'app', 'app.asar');
  const beside = join(dir, 'app', 'app.asar.unpacked');
  extractAll(join(resources, 'app.asar'), app);
  symlinkSync(join(resources, 'app.asar.unpacked'), beside);
  for (const file of filesIn(beside)) {
    rmSync(join(app, file));
    if (file.startsWith('node_modules/')) symlinkSync(join(beside, file), join(app, file));
  }
  return app;
}

beforeAll(() => {
  dir = tempDir();
  if (!PACKS) return;
  const electron = standInForElectron(join(dir, 'electron'));
  const out = join(dir, 'out');
  const flags = ['--linux', 'dir', `-c.electronDist=${electron}`, `-c.directories.output=${out}`];
  execFileSync(process.execPath, [join(ROOT, 'tools', 'dist', 'dist.ts'), ...flags], { stdio: 'pipe' });
  resources = join(out, 'linux-unpacked', 'resources');
  archived = listPackage(join(resources, 'app.asar'), { isPack: false }).map((path) => path.slice(1));
});
afterAll(() => removeDir(dir));

describe.skipIf(!PACKS)('the packed app', () => {
  test('answers a question from its sample library, reads documents, and closes', async () => {
    const root = layOut();
    const documents = join(dir, 'documents');
    mkdirSync(documents);
    for (const [name, bytes] of Object.entries(await documentsOfKinds()))
      writeFileSync(join(documents, name), bytes);
    const data = join(dir, 'data');
    mkdirSync(data);
    // Without room for KV the sample library is ready once it is read.
    writeFileSync(join(data, 'settings.json'), JSON.stringify({ diskBudgetBytes: 0 }));
    const child = spawn(process.execPath, [CHILD, root, data, documents], {
      cwd: dir,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
    expect(stderr).toBe('');
    const seen = JSON.parse(stdout) as {
      answer: { state: string; text: string };
      page: string;
      read: Record<string, unknown>;
      shown: Record<string, unknown>;
    };
    for (const [name, words] of Object.entries(seen.read))
      expect(words, name).toContain(RECOGNISED[name] ?? 'Brücke');
    expect(Object.keys(seen.read)).toHaveLength(Object.keys(await documentsOfKinds()).length);
    const page = { parts: [], part: 0, isMarked: false, isCut: false };
    expect(seen.shown).toEqual(
      Object.fromEntries(['letter.docx', 'mail.eml', 'notes.md', 'page.html'].map((name) => [name, page])),
    );
    expect(seen).toMatchObject({ errors: [], answer: { state: 'done' }, ended: ['quit'] });
    expect(seen.answer.text).toContain('Riga');
    expect(seen.page).toMatch(/<script type="module" crossorigin src="\.\/assets\//);
  });

  test('has the packages that its programs load, and no others', () => {
    const within = archived.filter((path) => path.startsWith('node_modules/'));
    const names = within.flatMap(
      (path) => /(?:^|.*\/)node_modules\/((@[^/]+\/)?[^/@]+)\/package\.json$/.exec(path)?.[1] ?? [],
    );
    const bundled = bundledPackages(ROOT);
    const wanted = packedPackages(ROOT)
      .map(({ name }) => name)
      .filter((name) => !name.startsWith('@node-llama-cpp/'))
      .filter((name) => !bundled.includes(`node_modules/${name}`) || names.includes(name));
    expect([...new Set(names)].sort()).toEqual([...new Set(wanted)].sort());
  });

  test('has no source maps, sources, tests, tools or secrets', () => {
    const top = new Set(archived.map((path) => path.split('/')[0]));
    expect([...top].sort()).toEqual(['build', 'node_modules', 'out', 'package.json', 'resources']);
    const unwanted = /\.(map|ts|tsx|mts|cc|pdb|log|pem|key)$|(^|\/)\.(env|npmrc|git)|\.test\./;
    expect(archived.filter((path) => unwanted.test(path))).toEqual([]);
    const beside = filesIn(join(resources, 'app.asar.unpacked'));
    const foreign = beside.filter((path) => path.endsWith('.node') && /prebuilds/.test(path));
    expect(foreign).toEqual([`node_modules/better-sqlite3/prebuilds/linux-${process.arch}.node`]);
  });

  test('has the list and source of GPU packs', async () => {
    const packed = extractFile(join(resources, 'app.asar'), 'package.json').toString();
    const { registry } = JSON.parse(packed) as { registry: string };
    expect(registry).toBe(addressIn(await askNpm(ROOT)));
    expect(filesIn(join(resources, 'app.asar.unpacked'))).toContain('resources/gpu-packs.json');
  });

  test('files opened by native code are outside the archive', () => {
    const beside = filesIn(join(resources, 'app.asar.unpacked'));
    expect(beside).toContain('build/native/kvasir.node');
    expect(beside).toContain('resources/models/kvasir-demo.gguf');
    expect(beside.filter((path) => /^build\/ggml\/libggml-cpu/.test(path)).length).toBeGreaterThan(1);
  });

  test('licences of all packed components are included', () => {
    const licences = readFileSync(join(resources, 'licences.txt'), 'utf8');
    for (const name of [
      'better-sqlite3',
      'react',
      'pdfjs-dist',
      'hono',
      '@modelcontextprotocol/sdk',
      'ggml',
      'PDFium',
      'libheif',
    ])
      expect(licences).toContain(name);
  });

  test('the SBOM lists its packages', () => {
    const bom = JSON.parse(readFileSync(join(resources, 'sbom.json'), 'utf8')) as {
      components: { name: string }[];
    };
    const names = bom.components.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['better-sqlite3', 'react', 'hono']));
    expect(names).not.toContain('vitest');
  });

  test('stays within its size limit', () => {
    const bytes = filesIn(resources).reduce((sum, file) => sum + lstatSync(join(resources, file)).size, 0);
    expect(bytes).toBeLessThan(BUDGET);
  });

  test("Electron's fuses are set: it runs only the app", async () => {
    const wire = await getCurrentFuseWire(join(dirname(resources), 'kvasir'));
    const off = [
      FuseV1Options.RunAsNode,
      FuseV1Options.EnableNodeOptionsEnvironmentVariable,
      FuseV1Options.EnableNodeCliInspectArguments,
      FuseV1Options.GrantFileProtocolExtraPrivileges,
    ];
    for (const option of off) expect(wire[option]).toBe(OFF);
    const on = [FuseV1Options.EnableEmbeddedAsarIntegrityValidation, FuseV1Options.OnlyLoadAppFromAsar];
    for (const option of on) expect(wire[option]).toBe(ON);
  });
});
