/**
 * Measures keyword retrieval in documents that nothing was tuned for: the manuals of Debian packages (English, German, Chinese; HTML, text,
 * PDF, EPUB), next to plain BM25 over the same chunks, and next to the maximum number of passages regardless of their score ("filled").
 *
 *   apt-get install debian-policy debian-faq debian-faq-de debian-faq-zh-cn debian-reference-en debian-reference-de \
 *     debian-reference-zh-cn developers-reference developers-reference-de bash-doc git-doc maint-guide maint-guide-de maint-guide-zh-cn
 *   npm run bench:retrieval -- [--questions 240] [--chunk-tokens 900] [--packages a,b] [--keep FOLDER] [--out FILE.json]
 *     [--embedder FILE.gguf] [--reranker FILE.gguf]
 *
 * --keep: reads the library into FOLDER and keeps it; an existing one, or documents in FOLDER/documents, are used unchanged.
 *
 * A rule generates the questions from the documents' texts, with a fixed seed, before indexing:
 * - "sentence": a sentence of 8 to 40 words (Chinese: 16 to 80 characters) that occurs in four places at most, without every third word
 *   (Chinese: every third run of four characters). A passage is right if it overlaps the sentence's place or contains the sentence verbatim,
 *   as other formats of the same manual do.
 * - "heading": a heading of two to eight words that four sections have at most. A passage is right if it overlaps the first 1,500
 *   characters of its section.
 * Questions with one right passage are also reported separately ("one right").
 *
 * A second set has questions written by hand that share few words with the passages (retrieval/paraphrases.json, English): answered by words
 * alone and, with --embedder and --reranker, by all that search has then. Computing the vectors takes minutes; --keep keeps them.
 *
 * Precision is the share of right passages among those returned, and "passages" their number. Plain BM25 is SQLite's FTS5 over the chunks'
 * texts (unicode61, Chinese as pairs), every word of the question, best 6.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, extname, join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import { App } from '../src-main/app.ts';
import { Catalogue, type ChunkRow } from '../src-main/catalogue/catalogue.ts';
import { openDatabase } from '../src-main/platform/database.ts';
import {
  choosePassages,
  fullTextRanking,
  MATCHES_PER_CHUNK,
  retrieve,
} from '../src-main/retrieval/retriever.ts';
import type { RetrievedChunk } from '../src-main/retrieval/types.ts';
import { SearchIndex } from '../src-main/retrieval/search-index.ts';
import { readLibrary } from '../e2e/support/library.ts';
import { searchers } from './retrieval/searchers.ts';
import { difference, type Interval } from './quality/intervals.ts';
import { writeResult } from './lib/result.ts';
import { answersAmong, paraphrases, questionsFrom, type BenchQuestion } from './retrieval/questions.ts';
import { plainQuery, plainText } from './retrieval/plain.ts';

const { values: args } = parseArgs({
  options: {
    questions: { type: 'string', default: '240' },
    'chunk-tokens': { type: 'string', default: '900' },
    packages: {
      type: 'string',
      default:
        'debian-policy,debian-faq,debian-faq-de,debian-faq-zh-cn,debian-reference-en,debian-reference-de,debian-reference-zh-cn,' +
        'developers-reference,developers-reference-de,bash-doc,git-doc,maint-guide,maint-guide-de,maint-guide-zh-cn',
    },
    keep: { type: 'string' },
    out: { type: 'string' },
    embedder: { type: 'string' },
    reranker: { type: 'string' },
  },
});

const TOP_K = 6;
const KINDS = new Set(['.html', '.htm', '.txt', '.pdf', '.epub']);

interface Scores {
  hit1: number;
  hit6: number;
  ndcg6: number;
  precision: number;
  passages: number;
}

const SCORES = ['hit1', 'hit6', 'ndcg6', 'precision', 'passages'] as const;
const WAYS = ['ours', 'filled', 'plain'] as const;

type RankingMethod = (typeof WAYS)[number];

const dir = args.keep ?? mkdtempSync(join(tmpdir(), 'kvasir-retrieval-'));
try {
  await bench();
} finally {
  if (args.keep === undefined) rmSync(dir, { recursive: true, force: true });
}

/** A question, and plain BM25's score on it. */
interface ScoredQuestion {
  question: BenchQuestion;
  right: ReadonlySet<number>;
  plain: Scores;
}

/** Makes the questions; the temporary data becomes garbage afterwards and does not slow the timed searches. */
function ask(catalogue: Catalogue, set: number) {
  const chunks = [...catalogue.chunks(set)];
  const plain = plainIndex(chunks);
  const rightOf = answersAmong(chunks);
  const asked = questionsFrom(catalogue, chunks, Number(args.questions)).map((question): ScoredQuestion => {
    const right = rightOf(question);
    return { question, right, plain: scoresOf(plain(question.text), right) };
  });
  const files = new Set(chunks.map(({ documentId }) => documentId)).size;
  const characters = chunks.reduce((sum, { text }) => sum + text.length, 0) / chunks.length;
  return { asked, files, chunks: chunks.length, characters };
}

async function bench(): Promise<void> {
  const packages = args.packages.split(',');
  const { path, set } = await ingest(packages);
  const catalogue = Catalogue.open(path);
  const { asked, files, chunks, characters } = ask(catalogue, set);
  const index = new SearchIndex(catalogue.words, set);
  const rows = asked.map(({ question, right, plain }) => {
    const before = process.cpuUsage();
    const ranking = fullTextRanking(index, question.text, TOP_K * MATCHES_PER_CHUNK);
    const found = choosePassages(index, question.text, ranking, TOP_K);
    const { user, system } = process.cpuUsage(before);
    const ours = scoresOf(ranked(found), right);
    const filled = scoresOf(ranked(retrieve(index, question.text, TOP_K)), right);
    return { question, right, plain, filled, ours, cpuMs: (user + system) / 1000 };
  });
  const groups = [
    ...new Set(rows.map(({ question }) => `${question.language} ${question.kind}`)),
    'one right',
    'all',
  ];
  const summary = groups.map((group) => {
    const some = rows.filter(
      ({ question, right }) =>
        group === 'all' ||
        (group === 'one right' ? right.size === 1 : group === `${question.language} ${question.kind}`),
    );
    const meanOf = (way: RankingMethod): Scores => {
      const all = some.map((row) => row[way]);
      return Object.fromEntries(SCORES.map((score) => [score, mean(all, score)])) as unknown as Scores;
    };
    return { group, n: some.length, ours: meanOf('ours'), filled: meanOf('filled'), plain: meanOf('plain') };
  });
  for (const way of WAYS) {
    const table = new Table({ head: [way, 'n', ...SCORES], style: { head: [], border: [] } });
    for (const row of summary) table.push([row.group, row.n, ...SCORES.map((score) => f(row[way][score]))]);
    console.log(table.toString());
  }
  const times = rows.map(({ cpuMs }) => cpuMs).sort((a, b) => a - b);
  const at = (share: number): number =>
    times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
  const cpuMs = { p50: at(0.5), p95: at(0.95), max: at(1) };
  console.log(`${files} files, ${chunks} chunks of ${characters.toFixed(0)} characters on average`);
  console.log(`CPU per question: p50 ${f(cpuMs.p50)} ms, p95 ${f(cpuMs.p95)} ms, max ${f(cpuMs.max)} ms`);
  const paraphrased = await askParaphrases(catalogue, path, set);
  writeResult('retrieval', args.out, {
    packages,
    paraphrased,
    files,
    chunks,
    characters,
    topK: TOP_K,
    summary,
    cpuMs,
  });
  const misses = rows.filter(({ ours }) => ours.hit6 === 0).slice(0, 8);
  for (const { question } of misses)
    console.log(`  missed (${question.kind}): ${question.text.slice(0, 110)}`);
  catalogue.close();
}

/** Asks the second set in every way; each is also compared with the way before, as a mean difference with its 95 % interval. */
async function askParaphrases(catalogue: Catalogue, path: string, set: number) {
  const rightOf = answersAmong([...catalogue.chunks(set)]);
  const asked = paraphrases()
    .map((question) => ({ text: question.text, right: rightOf(question) }))
    .filter(({ right }) => right.size > 0); // other packages answer other questions
  const { embedder, reranker } = args;
  const ways: { way: string; all: Scores[] }[] = [];
  const table = new Table({ head: ['paraphrases', 'n', ...SCORES], style: { head: [], border: [] } });
  for await (const [way, search] of searchers(catalogue, { path, set, topK: TOP_K, embedder, reranker })) {
    const all: Scores[] = [];
    for (const { text, right } of asked) all.push(scoresOf(await search(text), right));
    ways.push({ way, all });
    table.push([way, all.length, ...SCORES.map((score) => f(mean(all, score)))]);
  }
  console.log(table.toString());
  return ways.map(({ way, all }, i) => {
    const before = ways[i - 1]?.all ?? all;
    const of = (scores: readonly Scores[], score: keyof Scores): number[] =>
      scores.map((each) => each[score]);
    const gain = (score: keyof Scores): Interval => difference(of(all, score), of(before, score));
    const means = Object.fromEntries(SCORES.map((score) => [score, mean(all, score)]));
    return { way, n: all.length, ...means, gains: { hit6: gain('hit6'), ndcg6: gain('ndcg6') } };
  });
}

function mean(all: readonly Scores[], score: keyof Scores): number {
  return all.reduce((sum, scores) => sum + scores[score], 0) / all.length;
}

/** Best first. */
function ranked(found: readonly RetrievedChunk[]): number[] {
  return found.toSorted((a, b) => b.score - a.score).map(({ chunkId }) => chunkId);
}

/** Copies a package's documents in formats that Kvasir reads. */
function copyDocuments(name: string): void {
  const listed = execFileSync('dpkg', ['-L', name], { encoding: 'utf8' }).split('\n');
  const files = listed.filter(
    (path) => KINDS.has(extname(path)) && statSync(path, { throwIfNoEntry: false })?.isFile(),
  );
  const unique = [...new Set(files.map((path) => realpathSync(path)))];
  unique.forEach((path, i) => {
    const folder = join(dir, 'documents', name, String(i));
    mkdirSync(folder, { recursive: true });
    copyFileSync(path, join(folder, basename(path)));
  });
}

async function ingest(packages: readonly string[]): Promise<{ path: string; set: number }> {
  if (!existsSync(join(dir, 'documents'))) for (const name of packages) copyDocuments(name);
  const app = await App.open({
    dataDir: join(dir, 'data'),
    overrides: { chunkTokens: Number(args['chunk-tokens']), contextTokens: 8192 },
  });
  try {
    const started = performance.now();
    const { chunkSetId } = await readLibrary(app, { path: join(dir, 'documents'), precompute: false });
    console.log(`read and chunked in ${((performance.now() - started) / 1000).toFixed(0)} s`);
    return { path: app.paths.catalogue, set: chunkSetId };
  } finally {
    await app.close();
  }
}

function plainIndex(chunks: readonly ChunkRow[]): (question: string) => number[] {
  const database = openDatabase(':memory:', [
    `CREATE VIRTUAL TABLE plain USING fts5(text, content='', tokenize='unicode61 remove_diacritics 2')`,
  ]);
  database.transaction(() => {
    for (const { id, text } of chunks)
      database.run('INSERT INTO plain (rowid, text) VALUES (?, ?)', id, plainText(text));
  });
  const query = 'SELECT rowid FROM plain WHERE plain MATCH ? ORDER BY rank LIMIT ?';
  return (question) => database.column<number>(query, plainQuery(question), TOP_K);
}

function scoresOf(found: readonly number[], right: ReadonlySet<number>): Scores {
  const gains = found.slice(0, TOP_K).map((id, i) => (right.has(id) ? 1 / Math.log2(i + 2) : 0));
  const ideal = Array.from({ length: Math.min(TOP_K, right.size) }, (_, i) => 1 / Math.log2(i + 2));
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
  return {
    hit1: Number((gains[0] ?? 0) > 0),
    hit6: Number(gains.some((gain) => gain > 0)),
    ndcg6: sum(gains) / Math.max(sum(ideal), Number.EPSILON),
    precision: found.filter((id) => right.has(id)).length / Math.max(1, found.length),
    passages: found.length,
  };
}

function f(value: number): string {
  return value.toFixed(value < 10 ? 3 : 0);
}
