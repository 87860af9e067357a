import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import type { ChunkKv, KvDtype, Model, Segment } from '../../src-main/engine/engine.ts';

/** A prompt of one prefix token, whole chunks and a question, as tokens and as segments with cached chunks. */
export interface Case {
  context: number;
  chunkTokens: number;
  /** Every token of the prompt. */
  ids: Int32Array;
  /** Index of the question's first token. */
  questionAt: number;
  ram: Segment[];
  disk: Segment[];
  /** A second turn: two more cached chunks, and another question. */
  nextChunks: Segment[];
  nextQuestion: Segment;
  files: string[];
  /** The prompt with its chunks in other number formats. */
  packed: PackedCase[];
}

interface PackedCase {
  dtype: KvDtype;
  disk: Segment[];
  files: string[];
}

/** A one-token prefix: the beginning of a chat template does not affect any method's time. */
export const PREFIX = 1;
const NEXT_CHUNKS = 2;

/** Random token ids: the work does not depend on them. */
export function randomIds(count: number, vocab: number, seed = 12345): Int32Array {
  let state = seed;
  return Int32Array.from({ length: count }, () => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return 3 + (state % (vocab - 3));
  });
}

/** The greedy token. */
export function likeliest(logits: Float32Array): number {
  return logits.reduce((best, value, token) => (value > (logits[best] ?? NaN) ? token : best), 0);
}

/** Encodes the chunks of a prompt, in memory and as files in `dir`; `formats`: also in these, as files. */
export async function buildCase(
  model: Model,
  {
    context,
    chunkTokens,
    questionTokens,
    dir,
    formats,
  }: {
    context: number;
    chunkTokens: number;
    questionTokens: number;
    dir: string;
    formats: readonly KvDtype[];
  },
): Promise<Case> {
  const count = Math.max(1, Math.round(context / chunkTokens));
  const all = count + NEXT_CHUNKS;
  const ids = randomIds(PREFIX + all * chunkTokens + 2 * questionTokens, model.info.vocabSize);
  const { ram, disk, files } = await encoded('f16', all);
  const prefix: Segment = { kind: 'compute', tokens: ids.slice(0, PREFIX) };
  const [question, nextQuestion] = [0, 1].map((n): Segment => {
    const begin = PREFIX + all * chunkTokens + n * questionTokens;
    return { kind: 'compute', tokens: ids.slice(begin, begin + questionTokens) };
  }) as [Segment & { kind: 'compute' }, Segment];
  const wrap = (chunks: ChunkKv[]): Segment[] => chunks.map((chunk) => ({ kind: 'chunk', chunk }));
  const packed: PackedCase[] = [];
  for (const dtype of formats) {
    const made = await encoded(dtype, count);
    for (const chunk of made.ram) chunk.dispose();
    packed.push({ dtype, disk: [prefix, ...wrap(made.disk), question], files: made.files });
  }
  const questionAt = PREFIX + count * chunkTokens;
  return {
    context,
    chunkTokens,
    ids: Int32Array.of(...ids.slice(0, questionAt), ...question.tokens),
    questionAt,
    ram: [prefix, ...wrap(ram.slice(0, count)), question],
    disk: [prefix, ...wrap(disk.slice(0, count)), question],
    nextChunks: wrap(disk.slice(count)),
    nextQuestion,
    files,
    packed,
  };

  async function encoded(
    dtype: KvDtype,
    many: number,
  ): Promise<{ ram: ChunkKv[]; disk: ChunkKv[]; files: string[] }> {
    const made: Awaited<ReturnType<typeof encoded>> = { ram: [], disk: [], files: [] };
    for (let i = 0; i < many; i++) {
      const begin = PREFIX + i * chunkTokens;
      const chunk = await model.encodeChunk(ids.slice(begin, begin + chunkTokens), dtype);
      const file = join(dir, `${context}-${chunkTokens}-${dtype}-${i}.kvc`);
      await chunk.save(file);
      made.ram.push(chunk);
      made.disk.push(await model.openChunk(file));
      made.files.push(file);
      process.stderr.write(`\r  encoding ${i + 1}/${many} chunks of ${chunkTokens} tokens in ${dtype} `);
    }
    process.stderr.write('\n');
    return made;
  }
}

export function disposeCase({ ram, disk, nextChunks, files, packed }: Case): void {
  for (const segment of [...ram, ...disk, ...nextChunks, ...packed.flatMap((each) => each.disk)])
    if (segment.kind === 'chunk') segment.chunk.dispose();
  for (const file of [...files, ...packed.flatMap((each) => each.files)]) rmSync(file);
}

/** Reads the files, so that the next read comes from the page cache. */
export function bringIntoPageCache(files: readonly string[]): void {
  const block = Buffer.allocUnsafe(1 << 20);
  for (const path of files) {
    const file = openSync(path, 'r');
    while (readSync(file, block) > 0);
    closeSync(file);
  }
}

let shell: ChildProcessWithoutNullStreams | undefined;

/**
 * Asks the kernel to drop the files' pages, so that the next read comes from the disk. False if that is unsupported. Uses one shell
 * throughout: starting a process marks this process's memory copy-on-write, and each page would fault on its next write, while the clock
 * runs.
 */
export async function dropFromPageCache(files: readonly string[]): Promise<boolean> {
  if (process.platform !== 'linux') return false;
  shell ??= spawn('sh');
  hold(shell, true);
  const answer = once(shell.stdout, 'data');
  const commands = files.map(
    (file) => `dd of='${file}' oflag=nocache conv=notrunc,fdatasync count=0 status=none`,
  );
  shell.stdin.write(`${commands.join(' && ')} && echo yes || echo no\n`);
  const [said] = (await answer) as [Buffer];
  hold(shell, false);
  return said.toString().startsWith('yes');
}

/** Controls whether the child keeps this process alive; the child ends with this process. */
function hold(child: ChildProcessWithoutNullStreams, held: boolean): void {
  const sockets = child.stdio.filter((stream) => stream instanceof Socket);
  for (const each of [child, ...sockets]) {
    if (held) each.ref();
    else each.unref();
  }
}
