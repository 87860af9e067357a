/**
 * Measures how documents are read: every file below a folder, by the real parser process.
 *
 *   npm run bench:reading -- DIR [--worst 10] [--against CHECKOUT] [--out FILE.json]
 *
 * By extension: files read, with warnings, refused (by error code), median and longest CPU time, and the parser's peak memory (Linux only).
 *
 * Where another program's text lies beside a file (`a.pdf.txt` for `a.pdf`), words are compared as multisets: both texts in NFKC, lower
 * case, hyphens between letters removed with the white space behind them, so that division at line ends makes no difference; a word is a
 * run of letters, digits and marks, or one character of scripts without spaces. Recall is the share of the reference's words that were
 * read, precision the share of the words read that the reference has. Order is not compared.
 *
 * --worst N: lists the N files of lowest recall, with examples of missing and of extra words.
 * --against CHECKOUT: also reads each file with another checkout's readers, in turns, and compares CPU time of files that both read. Each
 *   file is read twice by both, and the faster time counts, since the first file of a kind loads its reader.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import { median } from './lib/machine.ts';
import { writeResult } from './lib/result.ts';
import { CheckoutReader, type Reading } from './reading/reader.ts';
import { compareWords, type WordScores } from './reading/words.ts';

const { values: args, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    worst: { type: 'string', default: '0' },
    against: { type: 'string' },
    out: { type: 'string' },
  },
});
const [dir] = positionals;
if (dir === undefined) {
  console.error('Usage: npm run bench:reading -- DIR [--worst N] [--against CHECKOUT] [--out FILE.json]');
  process.exit(2);
}

interface Row {
  file: string;
  kind: string;
  reading: Reading;
  scores?: WordScores | undefined;
  /** The other checkout's reading. */
  before?: Reading | undefined;
}

const ours = await CheckoutReader.open(join(import.meta.dirname, '..'));
const others = args.against === undefined ? undefined : await CheckoutReader.open(resolve(args.against));
const rows: Row[] = [];
for (const path of filesBelow(dir)) rows.push(await row(path, relative(dir, path)));
ours.close();
others?.close();

const kinds = [...Map.groupBy(rows, ({ kind }) => kind)].sort(([a], [b]) => a.localeCompare(b));
const summary = [...kinds, ['all', rows] as const].map(([kind, some]) => summaryOf(kind, some));
print();
writeResult('reading', args.out, {
  command: `npm run bench:reading -- DIR${args.against === undefined ? '' : ' --against CHECKOUT'}`,
  summary,
  files: rows.map(({ file, reading: { document, refusal, ms, cpuMs, peakMiB }, scores, before }) => ({
    file,
    ...(refusal ?? { warnings: document?.warnings.length, characters: document?.text.length }),
    ms,
    cpuMs,
    peakMiB,
    recall: scores?.recall,
    precision: scores?.precision,
    cpuMsBefore: before?.cpuMs,
  })),
});

/** In the order of their names; without reference texts. */
function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => !(path.endsWith('.txt') && existsSync(path.slice(0, -4))))
    .sort();
}

async function row(path: string, file: string): Promise<Row> {
  const kind = extname(path).slice(1).toLowerCase();
  const reading = await ours.read(path, file);
  const reference = `${path}.txt`;
  const scores =
    reading.document && existsSync(reference)
      ? compareWords(reading.document.text, readFileSync(reference, 'utf8'))
      : undefined;
  if (!others) return { file, kind, reading, scores };
  const before = await others.read(path, file);
  const [again, beforeAgain] = [await ours.read(path, file), await others.read(path, file)];
  return { file, kind, reading: faster(reading, again), scores, before: faster(before, beforeAgain) };
}

function faster(one: Reading, other: Reading): Reading {
  return (other.cpuMs ?? Infinity) < (one.cpuMs ?? Infinity) ? other : one;
}

function summaryOf(kind: string, some: readonly Row[]) {
  const read = some.filter(({ reading }) => reading.document);
  const scored = read.flatMap(({ scores }) => scores ?? []);
  const recalls = scored.map(({ recall }) => recall);
  const times = some.map(({ reading }) => reading.cpuMs ?? reading.ms);
  const both = read.filter(({ before }) => before?.document);
  const sum = (readings: readonly (Reading | undefined)[]): number =>
    readings.reduce((total, reading) => total + (reading?.cpuMs ?? reading?.ms ?? 0), 0);
  return {
    kind,
    files: some.length,
    read: read.length,
    warned: read.filter(({ reading }) => (reading.document?.warnings.length ?? 0) > 0).length,
    refused: countsOf(some.flatMap(({ reading }) => reading.refusal?.code ?? [])),
    medianMs: median(times),
    maxMs: Math.max(...times),
    peakMiB: Math.max(...some.map(({ reading }) => reading.peakMiB ?? 0)),
    compared: scored.length,
    medianRecall: scored.length ? median(recalls) : undefined,
    over90: scored.length ? recalls.filter((recall) => recall >= 0.9).length / scored.length : undefined,
    medianPrecision: scored.length ? median(scored.map(({ precision }) => precision)) : undefined,
    comparison: others && {
      files: both.length,
      ms: sum(both.map(({ reading }) => reading)),
      msBefore: sum(both.map(({ before }) => before)),
    },
  };
}

function countsOf(codes: readonly string[]): Record<string, number> {
  return Object.fromEntries([...Map.groupBy(codes, (code) => code)].map(([code, all]) => [code, all.length]));
}

function print(): void {
  const head = ['kind', 'files', 'read', 'warned', 'refused', 'ms median', 'ms max', 'MiB max'];
  const quality = ['compared', 'recall median', '≥ 0.90', 'precision median'];
  const speed = others ? ['read by both', 'ms', 'ms before'] : [];
  const table = new Table({ head: [...head, ...quality, ...speed], style: { head: [], border: [] } });
  for (const each of summary) {
    const refused = Object.entries(each.refused).map(([code, n]) => `${n} ${code.replace('DOCUMENT_', '')}`);
    table.push([
      ...[each.kind, each.files, each.read, each.warned, refused.join('\n')],
      ...[each.medianMs.toFixed(0), each.maxMs.toFixed(0), each.peakMiB.toFixed(0)],
      each.compared,
      ...[each.medianRecall, each.over90, each.medianPrecision].map((share) => share?.toFixed(3) ?? ''),
      ...(each.comparison ? Object.values(each.comparison).map((value) => value.toFixed(0)) : []),
    ]);
  }
  console.log(table.toString());
  const worst = rows
    .flatMap(({ file, scores }) => (scores ? { file, scores } : []))
    .sort((a, b) => a.scores.recall - b.scores.recall)
    .slice(0, Number(args.worst));
  for (const { file, scores } of worst) {
    const { recall, precision, missing, extra } = scores;
    console.log(`${file}: recall ${recall.toFixed(3)}, precision ${precision.toFixed(3)}`);
    console.log(`  missing: ${missing.slice(0, 12).join(' ')}\n  extra: ${extra.slice(0, 12).join(' ')}`);
  }
}
