import { expect, test } from 'vitest';
import { KvasirError } from '../../src-shared/errors.ts';
import { sharingOf } from './sharing.ts';
import { fixture } from '../testing/analysis.ts';

const EVERYWHERE = { libraryIds: [], documentIds: [] };
/** The last is not sent to the model. */
const QUESTIONS = ['Where is Oslo?', 'Where is Bern?', 'And Oslo by sea?', 'Nothing matches this.'];

test('questions about the same chunks follow one another; answers keep the order asked', async () => {
  // Not by the question's topic: only then are one question's chunks also the next one's.
  const strategy = { name: 'deviation', ratio: 0.15 };
  const { service, model, events, finished } = fixture({ settings: { strategy } });
  const { id } = service.ask({ questions: QUESTIONS, scope: EVERYWHERE });
  const { steps, state, sharing } = await finished(id);
  expect(state).toBe('done');
  expect(steps.map(({ question }) => question)).toEqual(QUESTIONS);
  expect(steps.map(({ sources }) => sources.map(({ ordinal }) => ordinal))).toEqual([[0], [8], [0], []]);
  const taken = new Set(
    events.flatMap((event) => (event.topic === 'analysis.text' ? [event.payload.stepId] : [])),
  );
  expect([...taken]).toEqual([0, 2, 1].map((i) => steps[i]?.id));
  // The third question's chunk is where the first one left it.
  expect(steps[2]?.stats?.chunkHits.resident).toBe(1);
  const bytes = steps[0]?.sources[0]?.bytes ?? 0;
  expect(sharing).toEqual({
    ...{ uses: 3, chunks: 2, residentUses: 1, memoryUses: 0, bytesSaved: bytes },
    bytesUsed: steps.flatMap(({ sources }) => sources).reduce((sum, source) => sum + source.bytes, 0),
  });
  expect(model.encoded).toBe(2);
});

test('a strategy that depends on the question recomputes different tokens for each', async () => {
  const { service, finished } = fixture({ settings: { strategy: { name: 'query', ratio: 0.15 } } });
  const { id } = service.ask({ questions: QUESTIONS, scope: EVERYWHERE });
  expect((await finished(id)).steps[2]?.stats?.chunkHits.resident).toBe(0);
});

test('all passages are looked up before the first answer, and shared chunks are held until the last', async () => {
  const held: number[] = [];
  let [lookedUp, first] = [0, -1];
  const { service, store, finished } = fixture({
    onFind: () => lookedUp++,
    beforeToken: (index) => {
      if (first < 0) first = lookedUp;
      if (index === 0) held.push(store.leases);
      return Promise.resolve();
    },
  });
  const one = service.ask({ questions: QUESTIONS, scope: EVERYWHERE });
  await finished(one.id);
  expect(first).toBe(4);
  expect(held).toEqual([0, 0, 0]); // nothing was stored before, so there is nothing to hold
  held.length = 0;
  const two = service.ask({ questions: QUESTIONS, scope: EVERYWHERE });
  await finished(two.id);
  expect(held).toEqual([1, 1, 1]);
  expect(store.leases).toBe(0);
});

test('a question that fails is stored with its failure; the others continue, and it can be asked again', async () => {
  let broken = true;
  const { service, finished } = fixture({
    onFind: () => undefined,
    beforeToken: () => {
      const running = service.get(id).steps.find(({ state }) => state === 'running');
      const fails = broken && running?.question === QUESTIONS[1];
      return fails ? Promise.reject(new KvasirError('ENGINE_FAILED', 'It broke.')) : Promise.resolve();
    },
  });
  const { id } = service.ask({ questions: QUESTIONS, scope: EVERYWHERE });
  const failed = await finished(id);
  expect(failed).toMatchObject({ state: 'done', stepsDone: 2, stepsFailed: 2 });
  expect(failed.steps[3]).toMatchObject({ state: 'failed', failure: { code: 'NO_MATCH' } });
  expect(failed.steps[1]).toMatchObject({ state: 'failed', failure: { code: 'ENGINE_FAILED' }, text: '' });
  broken = false;
  service.resume(id);
  const again = await finished(id);
  expect(again).toMatchObject({ stepsDone: 3, stepsFailed: 1 });
  expect(again.steps[0]).toEqual(failed.steps[0]);
});

test('stopping keeps the finished answers', async () => {
  const { service, finished } = fixture({
    beforeToken: () => {
      if (service.get(id).stepsDone === 2) service.stop(id);
      return Promise.resolve();
    },
  });
  const { id } = service.ask({ questions: QUESTIONS, scope: EVERYWHERE });
  const stopped = await finished(id);
  expect(stopped.state).toBe('stopped');
  expect(stopped.steps.map(({ state }) => state)).toEqual(['done', 'waiting', 'done', 'waiting']);
});

test('sharing counts a chunk that was in memory before as brought there once', () => {
  const source = (ordinal: number, tier: 'resident' | 'device' | 'ram' | 'disk' | 'computed') => ({
    ...{ documentId: '1', libraryId: '1', path: 'a.md', title: 'A', page: null, ordinal, start: 0, end: 1 },
    ...{ tier, tokens: 10, quote: '', bytes: 100 },
  });
  const steps = [
    { sources: [source(0, 'ram'), source(1, 'disk')] },
    { sources: [source(0, 'resident'), source(1, 'disk')] },
    { sources: [source(0, 'device'), source(2, 'computed')] },
  ];
  expect(sharingOf(steps)).toEqual({
    ...{ uses: 6, chunks: 3, residentUses: 1, memoryUses: 1, bytesUsed: 600, bytesSaved: 200 },
  });
});

test('CSV has one row per question, and no cell that a spreadsheet would run', async () => {
  const { service, finished } = fixture({ says: '=1+1, "so"' });
  const { id } = service.ask({ questions: ['Where is "Oslo", why?'], scope: EVERYWHERE });
  await finished(id);
  const { content, fileName } = service.export(id, 'csv');
  expect(fileName).toBe('Where-is-Oslo-why.csv');
  const [head, row, end] = content.split('\r\n');
  expect(head).toMatch(/^question,answer,sources,failure,ttft_ms/);
  expect(row).toMatch(/^"Where is ""Oslo"", why\?","'=1\+1, ""so""","Towns \(towns\.md, part 1\)",,/);
  expect(end).toBe('');
});

test('Markdown and JSON say what was asked, answered and read', async () => {
  const { service, finished } = fixture();
  const { id } = service.ask({ questions: QUESTIONS, scope: EVERYWHERE });
  const analysis = await finished(id);
  const markdown = service.export(id, 'markdown').content;
  expect(markdown).toContain('## Where is Bern?\n\nWhat was found.');
  expect(markdown).toContain('1. Towns (towns.md, part 9)');
  expect(JSON.parse(service.export(id, 'json').content)).toEqual({ kvasirAnalysis: 1, ...analysis });
  const document = await service.analyse({ documentId: '1', instruction: 'Name them.', size: 4 });
  await finished(document.id);
  expect(service.export(document.id, 'markdown').content).toMatch(
    /## Result\n\nWhat was found\.[\s\S]*## Window 3: parts 7–10/,
  );
  expect(() => service.export(document.id, 'csv')).toThrow(/table/);
});

test('an answer whose whole length went to thoughts says so, in one sentence', async () => {
  const { service, finished } = fixture({
    says: '<think>\nOslo has a harbour, and so has Bern.\n</think>\n\nOslo.',
    settings: { maxTokens: 16 },
  });
  const { id } = service.ask({ questions: QUESTIONS.slice(0, 1), scope: EVERYWHERE });
  const [step] = (await finished(id)).steps;
  expect(step).toMatchObject({ state: 'done', text: '' });
  expect(step?.notices.map(({ kind }) => kind)).toEqual(['plain-prompt', 'still-thinking']);
  expect(step?.notices[1]?.message).toMatch(/^The model was still thinking .* after 16 tokens/);
});
