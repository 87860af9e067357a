/**
 * Measures decoding with and without drafts, beside llama.cpp's decoding, in one run.
 *
 *   npm run bench:decode -- [--model F.gguf | --shape 0.6b --type q8_0] [--context 1024] [--tokens 128] [--rounds 5]
 *                           [--threads N] [--trial 256] [--out FILE.json]
 *
 * Two answers of the same model: one that quotes, and one that does not. A model file continues "Copy:" after a passage greedily, which it
 * quotes, and samples a story. A random-weight model's greedy text soon repeats a few tokens, and its sampled text repeats nothing: their
 * drafts are right and wrong as a real answer's, and the work does not depend on the weights. Runs alternate; ratios are medians of the
 * rounds' ratios. The texts with and without drafts must be equal.
 */
import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import { GREEDY, type Model, type Sampling, type Session } from '../src-main/engine/engine.ts';
import { openWithPacks } from '../src-main/engine/packs.ts';
import { median } from './lib/machine.ts';
import { writeResult } from './lib/result.ts';
import { MODEL_FLAGS, modelFile } from './lib/model-flags.ts';
import { fastest, type Llama } from './ttft/llama.ts';
import { randomIds } from './ttft/prompt.ts';
import { SETTLE_MS } from './ttft/rounds.ts';

const { values: args } = parseArgs({
  options: {
    ...MODEL_FLAGS,
    context: { type: 'string', default: '1024' },
    tokens: { type: 'string', default: '128' },
    rounds: { type: 'string', default: '5' },
    trial: { type: 'string', default: '256' },
  },
});
const CONTEXT = Number(args.context);
const TOKENS = Number(args.tokens);
const ROUNDS = Number(args.rounds);
/** A seed whose story does not end early with SmolLM2. */
const STORY: Partial<Sampling> = { ...GREEDY, temperature: 1, topK: 0, topP: 1, minP: 0.02, seed: 7 };

interface Answer {
  name: string;
  ids: Int32Array;
  sampling: Partial<Sampling>;
}

const PASSAGE = `The lighthouse at Skerry Point was built in 1847 from grey granite that boats carried over from the quarry on
the opposite shore. Its keeper, a widow named Agnes Fairlie, wrote the weather into a ledger four times a day for
thirty-one years: wind, swell, the height of the barometer, and every sail that passed between the reef and the
mainland. When the lamp was changed to paraffin in 1871, she noted only that the new wick smoked less than the old one
and that the gulls had returned to the east wall. The ledger lies in the harbour museum today, beside the brass clock
that she wound every Sunday and a small painting of the schooner Halcyon, which ran aground in the winter of 1863 with
a cargo of oranges, of which the children of the village ate for weeks.`;

function answersOf(model: Model): Answer[] {
  if (args.model === undefined) {
    const ids = randomIds(CONTEXT, model.info.vocabSize);
    return [
      { name: 'quotes', ids, sampling: GREEDY },
      // Its logits are so far apart that a moderate temperature chooses the same tokens again.
      { name: 'does not', ids, sampling: { ...STORY, temperature: 1000, minP: 0 } },
    ];
  }
  const ids = (text: string): Int32Array => model.tokenize(text, { special: true });
  return [
    { name: 'quotes', ids: ids(`Original:\n${PASSAGE}\n\nCopy:\n${PASSAGE.slice(0, 50)}`), sampling: GREEDY },
    {
      name: 'does not',
      ids: ids(`${PASSAGE}\n\nA story about a dragon:\n\nOnce upon a time`),
      sampling: STORY,
    },
  ];
}

async function generate(session: Session, { ids, sampling }: Answer, drafting: 'off' | 'measured') {
  session.truncate(ids.length - 1);
  await session.append([{ kind: 'compute', tokens: ids.slice(-1) }], { kind: 'full' });
  await sleep(SETTLE_MS);
  const result = await session.generate({ maxTokens: TOKENS, sampling: { ...sampling, drafting } });
  return { ...result, speed: (result.tokens.length * 1000) / result.ms };
}

async function llamaSpeed(llama: Llama, { ids }: Answer): Promise<number> {
  await llama.truncate(ids.length);
  await sleep(SETTLE_MS);
  return (TOKENS * 1000) / (await llama.decode(TOKENS)).ms;
}

async function measure(model: Model, llama: Llama, answer: Answer) {
  const session = model.createSession(answer.ids.length + TOKENS + 8);
  await session.append([{ kind: 'compute', tokens: answer.ids }], { kind: 'full' });
  await llama.truncate(0);
  await llama.prefill(answer.ids);
  await generate(session, answer, 'measured'); // learns how long steps take
  const rounds = [];
  for (let i = 0; i < ROUNDS; i++) {
    const without = await generate(session, answer, 'off');
    const withDrafts = await generate(session, answer, 'measured');
    if (!Buffer.from(without.tokens.buffer).equals(Buffer.from(withDrafts.tokens.buffer)))
      throw new Error(`The answer that ${answer.name} quote differs with drafts.`);
    rounds.push({ without, with: withDrafts, llama: await llamaSpeed(llama, answer) });
  }
  session.dispose();
  return {
    answer: answer.name,
    tokens: rounds[0]?.with.tokens.length,
    drafted: median(rounds.map((round) => round.with.drafted)),
    accepted: median(rounds.map((round) => round.with.accepted)),
    without: median(rounds.map((round) => round.without.speed)),
    with: median(rounds.map((round) => round.with.speed)),
    llama: median(rounds.map((round) => round.llama)),
    ratio: median(rounds.map((round) => round.with.speed / round.without.speed)),
    ratioToLlama: median(rounds.map((round) => round.with.speed / round.llama)),
  };
}

const path = modelFile(args);
const model = await openWithPacks().loadModel(path, { threads: Number(args.threads) });
const { threads, vocabSize: vocab } = model.info;
const answers = answersOf(model);
const contextTokens = Math.max(...answers.map(({ ids }) => ids.length)) + TOKENS + 64;
const { llama } = await fastest({ path, contextTokens, threads, vocab, device: 'auto' }, Number(args.trial));
const rows = [];
for (const answer of answers) rows.push(await measure(model, llama, answer));
const table = new Table({
  head: [
    'answer',
    'tokens',
    'drafts right',
    'without',
    'with drafts',
    'llama.cpp',
    '× without',
    '× llama.cpp',
  ],
  style: { head: [], border: [] },
});
for (const row of rows) {
  const speeds = [row.without, row.with, row.llama].map((speed) => `${speed.toFixed(1)}/s`);
  const ratios = [row.ratio, row.ratioToLlama].map((ratio) => ratio.toFixed(2));
  table.push([row.answer, row.tokens, `${row.accepted} of ${row.drafted}`, ...speeds, ...ratios]);
}
console.log(table.toString());
await llama.close();
model.dispose();
writeResult('decode', args.out, { model: basename(path), threads, context: args.context, rows });
