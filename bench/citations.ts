/**
 * Measures citations to the sentence: which share of an answer's facts point to the sentence that holds them (recall), and which share of
 * the sentences that are named hold one (precision).
 *
 *   npm run bench:citations -- [--attention N] [--app] [--out FILE.json]
 *
 * Set: the reference answers of bench:quality's held-out worlds, over all passages of their world, about 24. The passages that hold an answer
 * are known; in them, the sentence with the fact's value is the right one. --attention also measures every Nth answer by the demo model's
 * attention: the sentences that get at least a share of what the best gets from the answer's tokens, alone and as a check of those found
 * by words; layers and share are the best ones on these answers. --app asks the sample's questions in the app and measures its answers
 * over the passages that it found.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import { sourcesIn } from '../src-main/answering/citing/sentences.ts';
import { SourceSentences } from '../src-main/answering/citing/source-sentences.ts';
import { openWithPacks } from '../src-main/engine/packs.ts';
import { resolvePaths } from '../src-main/platform/paths.ts';
import { sampleAnswers } from './citations/app.ts';
import { AnswerAttention } from './citations/attention.ts';
import { worlds, type CitedAnswer, type PassageSentence } from './citations/facts.ts';
import { scoreOf, type CitationScore } from './citations/score.ts';
import { writeResult } from './lib/result.ts';

const { values: args } = parseArgs({
  options: {
    attention: { type: 'string' },
    app: { type: 'boolean', default: false },
    out: { type: 'string' },
  },
});

const rows: CitationScore[] = [];
const answers = worlds();
const byWords = answers.map((answer) => ({ answer, found: foundByWords(answer) }));
for (const kind of new Set(answers.map((answer) => answer.kind)))
  rows.push(
    scoreOf(
      `words, ${kind}`,
      byWords.filter(({ answer }) => answer.kind === kind),
    ),
  );
rows.push(scoreOf('words, all', byWords));
if (args.attention !== undefined) rows.push(...(await attentionRows(Number(args.attention))));
if (args.app) rows.push(scoreOf("the app's answers about the sample", await appAnswers()));

const table = new Table({
  head: ['', 'answers', 'facts', 'recall', 'markers', 'precision'],
  style: { head: [], border: [] },
});
for (const { name, answers: count, facts, recall, markers, precision } of rows)
  table.push([name, count, facts, recall.toFixed(3), markers, precision.toFixed(3)]);
console.log(table.toString());
writeResult('citations', args.out, { rows });

function sourcesOf({ passages }: CitedAnswer): (PassageSentence & { text: string; context: string })[] {
  return passages.flatMap(({ text, title }, passage) =>
    sourcesIn(text, title).map((source) => ({ ...source, passage })),
  );
}

function foundByWords(answer: CitedAnswer): PassageSentence[] {
  const sources = sourcesOf(answer);
  return new SourceSentences(sources, answer.question).of(answer.answer).flatMap((i) => sources[i] ?? []);
}

/** Every `step`th answer, by words, by attention, and by words with attention as a check. */
async function attentionRows(step: number): Promise<CitationScore[]> {
  const model = await openWithPacks().loadModel(resolvePaths().demoModel, { device: 'cpu' });
  const count = model.info.kvLayers;
  const some = byWords.filter((_, i) => i % step === 0);
  const tried: Record<'alone' | 'check', CitationScore[]> = { alone: [], check: [] };
  const late = Array.from({ length: Math.ceil(count / 3) }, (_, i) => count - 1 - i).reverse();
  for (const layers of [...late.map((layer) => [layer]), late]) {
    const attention = new AnswerAttention(model, layers);
    const all: number[][] = [];
    for (const { answer } of some) all.push(await attention.over(answer, sourcesOf(answer)));
    attention.dispose();
    for (const share of [0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]) {
      const attended = some.map(({ answer, found }, i) => {
        const scores = all[i] ?? [];
        const least = share * Math.max(...scores);
        const sentences = sourcesOf(answer).filter((_, at) => (scores[at] ?? 0) >= least);
        const isAttended = (one: PassageSentence): boolean =>
          sentences.some(({ passage, start }) => passage === one.passage && start === one.start);
        return { answer, alone: sentences, checked: found.filter(isAttended) };
      });
      const name = `layers ${layers.join(', ')}, share ${share}`;
      tried.alone.push(
        scoreOf(
          `attention alone, ${name}`,
          attended.map(({ answer, alone }) => ({ answer, found: alone })),
        ),
      );
      tried.check.push(
        scoreOf(
          `words checked by attention, ${name}`,
          attended.map(({ answer, checked }) => ({ answer, found: checked })),
        ),
      );
    }
  }
  return [scoreOf('words, the same answers', some), best(tried.alone), best(tried.check)];
}

function best(scores: readonly CitationScore[]): CitationScore {
  const harmonic = ({ recall, precision }: CitationScore): number =>
    recall + precision === 0 ? 0 : (2 * recall * precision) / (recall + precision);
  return scores.reduce((a, b) => (harmonic(b) > harmonic(a) ? b : a));
}

async function appAnswers() {
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-citations-'));
  try {
    return await sampleAnswers(dir);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
