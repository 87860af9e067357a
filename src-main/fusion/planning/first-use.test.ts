import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Calibration } from '../../../src-shared/contract/calibration.ts';
import type { QueueStatus } from '../../../src-shared/contract/libraries.ts';
import { KvasirError } from '../../../src-shared/errors.ts';
import { ChunkKv, type CallOptions, type Segment, type Strategy } from '../../engine/engine.ts';
import { EventBus } from '../../platform/event-bus.ts';
import { Gate } from '../../platform/gate.ts';
import { SettingsService } from '../../platform/settings-service.ts';
import { CostModel } from './cost-model.ts';
import { FirstUse, SHORT_CALIBRATION } from './first-use.ts';
import { Machine } from '../../testing/machine.ts';
import type { ProfiledModel } from './profile.ts';
import type { Piece } from './work.ts';

const LOG = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const READY = { waiting: 0, active: 0, total: 3 } as QueueStatus;

/** A model on a machine that only counts time; `appends` are the requests it received. */
function machineModel(fingerprint = 'f'): { model: ProfiledModel; appends: Strategy['kind'][] } {
  const machine = new Machine();
  const appends: Strategy['kind'][] = [];
  const chunk = (tokens: Int32Array, path?: string): ChunkKv =>
    new ChunkKv({
      ...{ tokens, dtype: 'f16', bytes: tokens.length, inMemory: path === undefined },
      save: (to) => {
        writeFileSync(to, String(tokens.length));
        return Promise.resolve(1);
      },
      converted: () => expect.fail(),
      pullIn: () => Promise.resolve(),
      receive: () => undefined,
      fail: () => undefined,
      dispose: () => undefined,
    });
  const files = new Map<string, number>();
  let next = 0;
  const model: ProfiledModel = {
    info: { ...machine.info, fingerprint, contextTrain: 4096, vocabSize: 100 },
    blends: true,
    bytesPerToken: () => 2000,
    encodeChunk: (tokens) => Promise.resolve(chunk(tokens)),
    openChunk: (path) => {
      files.set(path, next++);
      return Promise.resolve(chunk(new Int32Array(128 + (files.size > 2 ? 128 : 0)), path));
    },
    createSession: () => ({
      append: async (segments: Segment[], strategy: Strategy, options?: CallOptions) => {
        await new Promise((resolve) => setImmediate(resolve));
        if (options?.signal?.aborted) throw new KvasirError('ABORTED', 'stopped');
        appends.push(strategy.kind);
        const pieces = segments.map((segment): Piece => {
          const tokens = segment.kind === 'chunk' ? segment.chunk.tokens.length : segment.tokens.length;
          const tier = segment.kind !== 'chunk' ? null : segment.chunk.inMemory ? 'ram' : 'disk';
          return { tokens, tier, bytes: tokens * 2000 };
        });
        return machine.run({ past: 0, pieces }, strategy).report;
      },
      truncate: () => undefined,
      dispose: () => undefined,
    }),
  };
  return { model, appends };
}

function fixture({ documents = true, settings: set = {} }: { documents?: boolean; settings?: object } = {}) {
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-first-use-'));
  const { model, appends } = machineModel();
  const listeners: (() => void)[] = [];
  const models = {
    active: undefined as { name: string; model: ProfiledModel } | undefined,
    onChange: (listener: () => void) => {
      listeners.push(listener);
      return () => undefined;
    },
  };
  const state = { documents, calibration: undefined as Calibration | undefined };
  const asked: unknown[] = [];
  const events = new EventBus();
  const costs = new CostModel(join(dir, 'costs.json'));
  const gate = new Gate();
  const settings = new SettingsService(join(dir, 'settings.json'), set);
  const firstUse = new FirstUse({
    ...{ costs, settings, events, gate, log: LOG, pauseMs: 1 },
    dir,
    models: models as never,
    calibration: {
      all: () => (state.calibration ? [state.calibration] : []),
      status: () => ({ calibrations: [], model: 'M', running: false, strategySet: false }),
      run: (request) => {
        asked.push(request);
        if (!state.documents) return Promise.reject(new KvasirError('NOT_FOUND', 'no text'));
        state.calibration = {} as Calibration;
        return Promise.resolve(state.calibration);
      },
    },
  });
  onTestFinished(async () => {
    await firstUse.close();
    rmSync(dir, { recursive: true, force: true });
  });
  firstUse.start();
  const use = (): void => {
    models.active = { name: 'M', model };
    for (const tell of listeners) tell();
  };
  return { dir, model, models, appends, asked, state, events, costs, gate, settings, firstUse, use };
}

test('a new model is profiled immediately and calibrated when the queue is idle, once each', async () => {
  const { use, costs, model, asked, events, appends, dir } = fixture();
  use();
  await expect.poll(() => costs.knows(model.info, 'disk')).toBe(true);
  expect(asked).toEqual([]);
  events.emit('queue.status', { ...READY, waiting: 2 });
  events.emit('queue.status', READY);
  await expect.poll(() => asked).toEqual([SHORT_CALIBRATION]);
  const profiled = appends.length;
  use();
  events.emit('queue.status', READY);
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect([appends.length, asked.length]).toEqual([profiled, 1]);
  expect(readdirSync(dir).filter((name) => name.endsWith('.tmp'))).toEqual([]);
});

test('without documents it waits for them; where people chose a strategy it leaves them alone', async () => {
  const { use, asked, state, events } = fixture({ documents: false });
  use();
  events.emit('queue.status', READY);
  await expect.poll(() => asked.length).toBeGreaterThan(0);
  expect(state.calibration).toBeUndefined();
  state.documents = true;
  await expect
    .poll(() => {
      events.emit('queue.status', READY);
      return state.calibration;
    })
    .toBeDefined();

  const own = fixture({ settings: { strategy: { name: 'query' } } });
  own.use();
  await expect.poll(() => own.costs.knows(own.model.info, 'disk')).toBe(true);
  own.events.emit('queue.status', READY);
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(own.asked).toEqual([]);
});

test('a question goes first; a profile that was cut short is finished afterwards', async () => {
  const { use, costs, model, gate, appends } = fixture();
  let answered = (): void => undefined;
  const question = gate.foreground(() => new Promise<void>((resolve) => (answered = resolve)));
  use();
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(appends).toEqual([]);
  answered();
  await question;
  await expect.poll(() => costs.knows(model.info, 'disk')).toBe(true);
});

test('what the profile learnt foretells another prompt', async () => {
  const { use, costs, model } = fixture();
  use();
  await expect.poll(() => costs.knows(model.info, 'disk')).toBe(true);
  const machine = new Machine();
  const { report } = machine.run(
    { past: 0, pieces: [{ tokens: 2000, tier: null, bytes: 0 }] },
    { kind: 'full' },
  );
  await expect
    .poll(() => Math.abs((costs.fullPrefill(model.info, 2000) ?? 0) / report.totalMs - 1))
    .toBeLessThan(0.05);
});

test('closing ends it in the middle', async () => {
  const { use, firstUse, appends } = fixture();
  use();
  await expect.poll(() => appends.length).toBeGreaterThan(0);
  await firstUse.close();
  const done = appends.length;
  await new Promise((resolve) => setTimeout(resolve, 10));
  expect(appends.length).toBe(done);
});
