/**
 * Measures a question that reads one long document whole, in the app: what is said beforehand (tokens, how many are cached, time to the first
 * token), what it takes, and what a full prefill of the same prompt takes.
 *
 *   npm run bench:document -- [--model F.gguf | --shape 0.6b --type q8_0] [--context 32768] [--pages 300] [--page 90]
 *                             [--ratios 0.05] [--threads N] [--out FILE.json]
 *
 * The document is a PDF of --pages pages with --page characters each, which are as many tokens for random models. The app opens it,
 * computes its chunks and the model's costs, and is asked once for each ratio, in a new conversation each; a full prefill of the same prompt
 * follows. One untimed question comes first. Documents that would take longer than a minute are not read whole.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import { App } from '../src-main/app.ts';
import { pdfFile } from '../src-main/testing/pdf-file.ts';
import type { ContextEstimate } from '../src-shared/contract/context.ts';
import type { AnswerStats } from '../src-shared/contract/chat.ts';
import type { StrategyChoice } from '../src-shared/strategy.ts';
import { compareTtft } from '../src-shared/ttft.ts';
import { cpuTicks, stealPercent } from './lib/machine.ts';
import { writeResult } from './lib/result.ts';
import { MODEL_FLAGS, modelFile } from './lib/model-flags.ts';

const { values: args } = parseArgs({
  options: {
    ...MODEL_FLAGS,
    context: { type: 'string', default: '32768' },
    pages: { type: 'string', default: '300' },
    page: { type: 'string', default: '90' },
    ratios: { type: 'string', default: '0.05' },
  },
});

const QUESTION = 'What is this about?';
const MiB = 1024 * 1024;
const pages = Number(args.pages);
const contextTokens = Number(args.context);
const path = modelFile(args, contextTokens);
const dir = mkdtempSync(join(tmpdir(), 'kvasir-bench-'));
const ticks = cpuTicks();

interface Row {
  strategy: string;
  kind: ContextEstimate['kind'];
  promptTokens: number;
  cachedTokens: number | null;
  saidMs: number | null;
  ttftMs: number;
  /** To the first token with a full prefill of the same prompt. */
  fullMs: number;
  ofFull: number;
  /** (said − taken) / taken. */
  error: number | null;
  stats: AnswerStats;
}

const app = await App.open({
  dataDir: join(dir, 'data'),
  overrides: {
    contextTokens,
    maxTokens: 4,
    threads: Number(args.threads),
    strategy: { name: 'query', ratio: 0.15 }, // with 'auto', it would be calibrated meanwhile
    memoryBudgetBytes: 8192 * MiB,
    conversationBudgetBytes: 8192 * MiB,
    watchAnswers: false,
  },
});
try {
  const documentId = await addDocument();
  const rows: Row[] = [];
  const ratios = args.ratios.split(',').map(Number);
  for (const [i, ratio] of [...ratios.slice(0, 1), ...ratios].entries()) {
    const row = await ask(documentId, { name: 'query', ratio }, i > 0);
    if (i > 0) rows.push(row);
  }
  print(rows);
  const about = { model: basename(path), pages, pageCharacters: Number(args.page), contextTokens };
  writeResult('document', args.out, { ...about, stealPercent: stealPercent(ticks), rows });
} finally {
  await app.close();
  rmSync(dir, { recursive: true, force: true });
}

/** Reads it, and waits until its chunks and the model's costs are computed. Returns its id. */
async function addDocument(): Promise<string> {
  const folder = join(dir, 'documents');
  mkdirSync(folder);
  writeFileSync(join(folder, 'long.pdf'), pdfFile(Array.from({ length: pages }, (_, i) => page(i))));
  await app.loader.activate((await app.models.import(path)).id);
  app.start();
  for (const sample of app.libraries.list()) await app.libraries.delete(sample.id);
  const { id } = app.libraries.create('Long');
  await app.libraries.addPaths({ id, paths: [folder], watch: false });
  await app.libraries.rescan(id);
  const { queue } = app.libraries;
  const { model } = await app.localModels.current();
  for (let told = 0; ; told++) {
    const { waiting, active } = queue.status();
    const isKnown = app.planner.costs.knows(model.info, 'disk');
    if (waiting + active === 0 && isKnown) break;
    if (told % 60 === 0)
      console.error(`waiting: ${waiting} documents, costs ${isKnown ? 'known' : 'unknown'}`);
    await setTimeout(500);
  }
  await app.firstUse.idle();
  const [documentId] = app.catalogue.documents.idsOfLibrary(Number(id));
  return String(documentId);
}

/** Sentences of numbered words: no two chunks are alike. */
function page(number: number): string {
  const words: string[] = [];
  for (let at = 0; words.join(' ').length < Number(args.page); at++)
    words.push(`item ${number * 97 + at * 31}`);
  const lines = [];
  for (let at = 0; at < words.length; at += 8) lines.push(words.slice(at, at + 8).join(' '));
  return `BT /F 11 Tf 14 TL 72 760 Td ${lines.map((line) => `(${line}.) Tj T*`).join(' ')} ET`;
}

/** `withFull`: also measures a full prefill of its prompt. */
async function ask(documentId: string, strategy: StrategyChoice, withFull: boolean): Promise<Row> {
  const options = { scope: { libraryIds: [], documentIds: [documentId] }, strategy, seed: 0 };
  const said = await app.chat.estimate({ conversationId: null, options, text: QUESTION });
  const { id } = app.chat.create(options);
  const { answerId } = app.chat.send(id, QUESTION);
  await app.chat.idle();
  const answer = app.chat.get(id).messages.find((message) => message.id === answerId);
  if (!said || !answer?.stats) throw new Error(answer?.failure?.message ?? 'no answer');
  const stats = withFull ? await app.chat.measureFullPrefill(answerId) : answer.stats;
  app.chat.delete(id);
  const fullMs = compareTtft(stats)?.fullTtftMs ?? NaN;
  const { kind, promptTokens, cachedTokens, ttftMs: saidMs } = said;
  const ttftMs = stats.ttftMs.total;
  const name = `${strategy.name} ${strategy.ratio * 100} %`;
  const row = { strategy: name, kind, promptTokens, cachedTokens, saidMs, ttftMs, stats };
  console.error(
    `  ${name}: ${kind}, ${promptTokens} tokens, said ${saidMs?.toFixed(0)} ms, took ${ttftMs.toFixed(0)} ms`,
  );
  return {
    ...{ ...row, fullMs, ofFull: ttftMs / fullMs },
    error: saidMs === null ? null : (saidMs - ttftMs) / ttftMs,
  };
}

function print(rows: readonly Row[]): void {
  const table = new Table({
    head: ['', 'reads', 'tokens', 'cached', 'said', 'took', 'full prefill', '× full', 'error'],
    style: { head: [], border: [] },
  });
  const seconds = (ms: number | null): string => (ms === null ? '?' : `${(ms / 1000).toFixed(2)} s`);
  for (const { strategy, kind, promptTokens, cachedTokens, saidMs, ttftMs, fullMs, ofFull, error } of rows) {
    const off = error === null ? '?' : `${(error * 100).toFixed(0)} %`;
    table.push([
      strategy,
      kind,
      promptTokens,
      cachedTokens ?? '?',
      seconds(saidMs),
      seconds(ttftMs),
      seconds(fullMs),
      ofFull.toFixed(3),
      off,
    ]);
  }
  console.log(table.toString());
}
