/**
 * What a question costs outside the engine, early and late in a long conversation: many turns are asked, each with passages of its
 * own, of a model that only counts; printed is the processor time of a turn, of reading the conversation as a window does after it,
 * and the longest stretch during which nobody else was answered.
 *
 *   npm run bench:conversation -- [--turns 100] [--passages 60] [--words 180] [--out FILE]
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import { ChatService } from '../src-main/chat/chat-service.ts';
import { CostModel } from '../src-main/fusion/planning/cost-model.ts';
import { Planner } from '../src-main/fusion/planning/planner.ts';
import { StoredPrefixes } from '../src-main/fusion/stored-prefixes.ts';
import { EventBus } from '../src-main/platform/event-bus.ts';
import { Gate } from '../src-main/platform/gate.ts';
import { silentLogger } from '../src-main/platform/logger.ts';
import { SettingsService } from '../src-main/platform/settings-service.ts';
import type { Retrieval } from '../src-main/retrieval/types.ts';
import { FakeModel, FakeStore } from '../src-main/testing/fusion.ts';
import { listedLibrary } from '../src-main/testing/passages.ts';
import { writeResult } from './lib/result.ts';

const { values: args } = parseArgs({
  options: {
    turns: { type: 'string', default: '100' },
    passages: { type: 'string', default: '60' },
    words: { type: 'string', default: '180' },
    out: { type: 'string' },
  },
});
const [turns, passages, words] = [Number(args.turns), Number(args.passages), Number(args.words)];
/** What is kept is that of some turns at each place: one alone may meet a collection of garbage. */
const SPAN = 5;

interface Cost {
  turnMs: number;
  readMs: number;
  longestMs: number;
}

function textOf(passage: number): string {
  let state = passage + 1;
  const next = (): number => (state = (state * 48_271) % 2_147_483_647) % 26;
  return Array.from({ length: words }, () => String.fromCharCode(97 + next(), 97 + next(), 97 + next())).join(
    ' ',
  );
}

/** A library of which each turn finds the next passages. */
function openChat(dir: string): ChatService {
  const model = new FakeModel({ says: ' It says so in the third of them.', contextTrain: 65_536 });
  const texts = { 'all.txt': Array.from({ length: turns * passages }, (_, i) => textOf(i)) };
  const library = listedLibrary(model, texts);
  let turn = 0;
  const retrieval: Retrieval = {
    usualTopK: passages,
    find: () => {
      const found = library.all.slice(turn * passages, ++turn * passages);
      const chunks = found.map(({ id, documentId, ordinal }, i) => ({
        ...{ chunkId: id, documentId, ordinal, score: passages - i, reason: 'match' as const },
        ...{ fullText: null, vector: null, highlights: [] },
      }));
      return Promise.resolve({ chunks, usedVectors: false, ms: 0 });
    },
  };
  const byId = new Map(library.all.map((passage) => [passage.id, passage]));
  const active = { name: 'Counting', model };
  const store = new FakeStore();
  const gate = new Gate();
  return new ChatService({
    path: join(dir, 'conversations.sqlite'),
    models: { active, current: () => Promise.resolve(active), onChange: () => () => undefined },
    retrieval,
    passages: { ...library.passages, chunk: (id) => byId.get(id), document: () => library.all[0] },
    store,
    settings: new SettingsService(join(dir, 'settings.json'), {
      topK: Math.min(passages, 60),
      contextTokens: 65_536,
    }),
    planner: new Planner({
      costs: new CostModel(join(dir, 'costs.json')),
      store,
      calibration: () => undefined,
    }),
    prefixes: new StoredPrefixes({ store, gate }),
    events: new EventBus(),
    gate,
    log: silentLogger,
  });
}

async function cpuMs(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

async function ask(chat: ChatService, id: string, turn: number): Promise<Cost> {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  await sleep(20);
  const turnMs = await cpuMs(() => {
    chat.send(id, `What do the passages of turn ${turn} say?`);
    return chat.idle();
  });
  const readMs = await cpuMs(() => JSON.stringify(chat.get(id)));
  await sleep(20);
  delay.disable();
  return { turnMs, readMs, longestMs: delay.max / 1e6 };
}

function median(costs: readonly Cost[], of: keyof Cost): number {
  const sorted = costs.map((cost) => cost[of]).sort((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? 0;
}

const dir = mkdtempSync(join(tmpdir(), 'kvasir-conversation-'));
const chat = openChat(dir);
try {
  const { id } = chat.create({ scope: { libraryIds: [], documentIds: [] } });
  const costs: Cost[] = [];
  for (let turn = 1; turn <= turns; turn++) costs.push(await ask(chat, id, turn));
  const placed = chat.get(id).messages.at(-1)?.citations.length ?? 0;
  const table = new Table({
    head: ['turn', 'turn, ms CPU', 'reading the conversation, ms CPU', 'longest stretch, ms'],
  });
  const rows = [10, 20, 50, 100]
    .filter((turn) => turn <= turns)
    .map((turn) => {
      const around = costs.slice(turn - SPAN, turn);
      const row = {
        turn,
        turnMs: median(around, 'turnMs'),
        readMs: median(around, 'readMs'),
        longestMs: median(around, 'longestMs'),
      };
      table.push([turn, row.turnMs.toFixed(1), row.readMs.toFixed(1), row.longestMs.toFixed(0)]);
      return row;
    });
  console.log(`${placed} passages a turn, of ${words} words; medians of ${SPAN} turns`);
  console.log(table.toString());
  writeResult('conversation', args.out, { turns, passages: placed, words, rows });
} finally {
  await chat.close();
  rmSync(dir, { recursive: true, force: true });
}
