import { expect, test } from 'vitest';
import { blend, type BlendOptions, type PromptPart } from './blender.ts';
import { encodeAndStore } from './encode-chunks.ts';
import { keyFor } from './model.ts';
import { FakeModel, FakeStore } from '../testing/fusion.ts';

const numbers = (from: number, count: number): number[] => Array.from({ length: count }, (_, i) => from + i);
const OLD = Int32Array.from(numbers(100, 200));
/** Five tokens of it replaced by two. */
const EDITED = Int32Array.of(...numbers(100, 90), 7, 8, ...numbers(195, 105));

/** A prompt of one passage; `stored` are the chunks the store has. */
async function fixture(passage: Int32Array, ...stored: Int32Array[]) {
  const model = new FakeModel();
  const store = new FakeStore();
  const session = model.createSession(1000);
  for (const tokens of stored) await encodeAndStore(model, store, [{ tokens }], { dtype: 'f16', label: '' });
  const parts: PromptPart[] = [
    { kind: 'text', tokens: Int32Array.of(1) },
    { kind: 'chunk', tokens: passage },
    { kind: 'text', tokens: Int32Array.of(9) },
  ];
  const options: BlendOptions = { model, store, session, dtype: 'f16', strategy: { kind: 'none' } };
  const key = (tokens: Int32Array): string => keyFor(model, 'f16', { tokens });
  return { model, store, session, parts, options, key };
}

test('an edited passage is placed as runs of what it was, with the edit and two tokens at each seam computed', async () => {
  const { parts, options, session, store } = await fixture(EDITED, OLD);
  const { outcomes, reuse, report } = await blend(parts, options);
  expect(outcomes).toEqual(['partial']);
  expect(reuse).toEqual([
    {
      tier: 'disk',
      runs: [
        { begin: 0, count: 88 },
        { begin: 94, count: 103 },
      ],
    },
  ]);
  expect(session.segments).toMatchObject([
    { kind: 'compute' },
    { kind: 'chunk', range: { begin: 0, count: 88 } },
    { kind: 'compute', tokens: Int32Array.of(188, 189, 7, 8, 195, 196) },
    { kind: 'chunk', range: { begin: 97, count: 103 } },
    { kind: 'compute' },
  ]);
  expect(session.tokens).toEqual([1, ...EDITED, 9]);
  expect(report.reusableTokens).toBe(191);
  expect(store.leases).toBe(0);
  expect(store.has(keyFor(options.model, 'f16', { tokens: EDITED }))).toBe(false); // blended KV is never stored
});

test('a passage that is a part of a stored chunk is found in full', async () => {
  const { parts, options, session } = await fixture(OLD.slice(20, 150), OLD);
  const { outcomes, reuse } = await blend(parts, options);
  expect(outcomes).toEqual(['disk']);
  expect(reuse[0]?.runs).toEqual([{ begin: 0, count: 130 }]);
  expect(session.segments[1]).toMatchObject({ kind: 'chunk', range: { begin: 20, count: 130 } });
});

test('a passage across the boundary of two chunks is put together from both', async () => {
  const other = Int32Array.from(numbers(5000, 200));
  const passage = Int32Array.of(...OLD.slice(100), ...other.slice(0, 100));
  const { parts, options, session, store } = await fixture(passage, OLD, other);
  expect((await blend(parts, options)).outcomes).toEqual(['partial']);
  expect(session.tokens).toEqual([1, ...passage, 9]);
  expect(session.segments.filter(({ kind }) => kind === 'chunk')).toHaveLength(2);
  expect(store.leases).toBe(0);
});

test('a passage out of two chunks comes from the slower of their tiers', async () => {
  const other = Int32Array.from(numbers(5000, 200));
  const passage = Int32Array.of(...OLD.slice(100), ...other.slice(0, 100));
  const { parts, options, model, key } = await fixture(passage, OLD, other);
  model.there.add(key(OLD));
  expect((await blend(parts, options)).reuse[0]?.tier).toBe('disk');
  model.there.add(key(other));
  expect((await blend(parts, options)).reuse[0]?.tier).toBe('device');
});

test('a passage with too little in common is computed', async () => {
  const { parts, options, session } = await fixture(EDITED, OLD.slice(0, 120));
  expect(await blend(parts, options)).toMatchObject({
    outcomes: ['computed'],
    reuse: [{ tier: 'computed', runs: [] }],
  });
  expect(session.segments.map(({ kind }) => kind)).toEqual(['compute', 'compute', 'compute']);
});

test('its own KV comes before what is similar, and a full prefill looks for neither', async () => {
  const { parts, options, session } = await fixture(EDITED, OLD, EDITED);
  expect((await blend(parts, options)).outcomes).toEqual(['disk']);
  expect(session.segments[1]).not.toHaveProperty('range');
  expect((await blend(parts, { ...options, strategy: { kind: 'full' } })).outcomes).toEqual(['computed']);
});

test('a similar chunk found damaged while it is used is quarantined, and the passage computed', async () => {
  const { parts, options, session, store, key } = await fixture(EDITED, OLD);
  store.damage(key(OLD));
  expect(await blend(parts, options)).toMatchObject({ outcomes: ['computed'], quarantined: [0] });
  expect(store.quarantined).toEqual([key(OLD)]);
  expect(session.tokens).toEqual([1, ...EDITED, 9]);
  expect(store.leases).toBe(0);
});

test('a similar chunk that cannot be leased any more is no source', async () => {
  const { parts, options, store, key } = await fixture(EDITED, OLD);
  store.lost.add(key(OLD));
  expect((await blend(parts, options)).outcomes).toEqual(['computed']);
  expect(store.leases).toBe(0);
});
