/** The loop with a model on a server, which sends calls and takes their results as messages. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { CostModel } from '../../fusion/planning/cost-model.ts';
import { Planner } from '../../fusion/planning/planner.ts';
import type { RemotePiece, RemoteRequest } from '../../models/sources/servers/client.ts';
import { systemClock } from '../../platform/clock.ts';
import { SettingsService } from '../../platform/settings-service.ts';
import { FakeModel, FakeStore } from '../../testing/fusion.ts';
import { listedLibrary } from '../../testing/passages.ts';
import { serverModel } from '../../testing/server-model.ts';
import { AnswerMaker, readAnswer } from '../answer.ts';
import type { AnswerEvent } from '../backends/backend.ts';
import { choicesOf } from '../choices.ts';
import { Stopwatch } from '../stopwatch.ts';
import type { ToolCall, ToolRequest } from '../tools.ts';

const WEATHER: ToolRequest = {
  tools: [{ name: 'weather', parameters: { type: 'object', properties: {} } }],
  choice: 'auto',
  parallel: true,
};

const calls = (...pieces: string[]): RemotePiece[] =>
  pieces.map((text, i) => ({
    kind: 'call',
    call: { index: 0, ...(i === 0 && { id: 'call_1', name: 'weather' }), arguments: text },
  }));

/** Answers with these pieces, one list for each request. */
async function answer(answers: RemotePiece[][]) {
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-steps-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const store = new FakeStore();
  const planner = new Planner({
    costs: new CostModel(join(dir, 'costs.json')),
    store,
    calibration: () => undefined,
  });
  const { passages, retrieval } = listedLibrary(new FakeModel(), {});
  const maker = new AnswerMaker({ store, planner, passages, retrieval });
  const requests: RemoteRequest[] = [];
  const says: RemotePiece[] = [];
  const onRequest = (request: RemoteRequest): void => {
    requests.push(request);
    says.splice(0, says.length, ...(answers[requests.length - 1] ?? []));
  };
  const model = serverModel({ says, onRequest });
  const { current } = new SettingsService(join(dir, 'settings.json'));
  const ran: ToolCall[][] = [];
  const events: AnswerEvent[] = [];
  const made = await readAnswer(
    maker.answer({
      ...{
        model,
        name: 'Big',
        question: '',
        form: 'messages',
        reserve: 1,
        requestClass: 'test',
        mayGuess: true,
      },
      messages: [{ role: 'user', pieces: ['Weather?'] }],
      choices: choicesOf({}, current, model, planner),
      tools: WEATHER,
      runCalls: (given) => {
        ran.push(structuredClone([...given]));
        return Promise.resolve(given.map(() => 'Rain'));
      },
      stopwatch: new Stopwatch(systemClock),
      before: { retrieve: 0 },
      openSession: () => {
        throw new Error('no sessions');
      },
    }),
    (event) => events.push(event),
  );
  return { made, requests, ran, events };
}

test('the server gets the call and its result, and the answer has the text of both steps', async () => {
  const { made, requests, ran, events } = await answer([
    [{ kind: 'text', text: 'I look.' }, ...calls('{"city"', ':"Oslo"}')],
    [{ kind: 'text', text: 'It rains.' }],
  ]);
  expect(ran).toEqual([[{ id: 'call_1', name: 'weather', arguments: '{"city":"Oslo"}' }]]);
  expect(requests[1]?.messages).toEqual([
    { role: 'user', content: 'Weather?' },
    {
      role: 'assistant',
      content: 'I look.',
      tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } }], // prettier-ignore
    },
    { role: 'tool', content: 'Rain', tool_call_id: 'call_1' },
  ]);
  expect(requests.map(({ tools }) => tools?.tool_choice)).toEqual(['auto', 'auto']);
  expect(made).toMatchObject({ text: 'I look.\n\nIt rains.', stop: 'eos' });
  const told = events.map((event) => (event.kind === 'text' ? event.text : '')).join('');
  expect(told).toBe(made.text);
  expect(made.stats.answerTokens).toBe(10);
});

test('the last of eight steps may call nothing', async () => {
  const { made, requests, ran } = await answer([
    ...Array.from({ length: 7 }, () => calls('{}')),
    [{ kind: 'text', text: 'It rains.' }, ...calls('{}')],
  ]);
  expect(ran).toHaveLength(7);
  expect(requests.map(({ tools }) => tools?.tool_choice)).toEqual(
    ['none', ...Array.from({ length: 7 }, () => 'auto')].reverse(),
  );
  expect(made.text).toBe('It rains.');
});
