import { describe, expect, test } from 'vitest';
import type { Strategy } from '../engine/engine.ts';
import { blend, type BlendOptions, type PromptPart } from './blender.ts';
import type { KvDtype } from '../engine/engine.ts';
import { encodeAndStore } from './encode-chunks.ts';
import { keyFor } from './model.ts';
import { FakeModel, FakeStore } from '../testing/fusion.ts';

const NONE: Strategy = { kind: 'none' };

/** A prompt "prefix, three chunks, question"; `cached` says which chunks are in the store. */
async function fixture(cached: boolean[], strategy: Strategy = NONE) {
  const model = new FakeModel();
  const store = new FakeStore();
  const session = model.createSession(1000);
  const chunks = cached.map((_, i) => model.tokenize(`chunk ${i}`));
  const keys = chunks.map((tokens) => keyFor(model, 'f16', { tokens }));
  for (const [i, tokens] of chunks.entries()) {
    if (cached[i]) await encodeAndStore(model, store, [{ tokens }], { dtype: 'f16', label: '' });
  }
  const parts: PromptPart[] = [
    { kind: 'text', tokens: Int32Array.of(1) },
    ...chunks.map((tokens): PromptPart => ({ kind: 'chunk', tokens })),
    { kind: 'text', tokens: model.tokenize('why?') },
  ];
  const options: BlendOptions = { model, store, session, dtype: 'f16', strategy };
  return {
    model,
    store,
    session,
    keys,
    parts,
    options,
    wholePrompt: parts.flatMap(({ tokens }) => [...tokens]),
  };
}

describe('blend', () => {
  // Known from another implementation (LMCache#835).
  test('cached chunks are placed, a miss is computed in its place and does not end reuse', async () => {
    const { parts, options, session, store, wholePrompt } = await fixture([false, true, true]);
    const { outcomes, quarantined } = await blend(parts, options);
    expect(outcomes).toEqual(['computed', 'disk', 'disk']);
    expect(quarantined).toEqual([]);
    expect(session.segments.map(({ kind }) => kind)).toEqual([
      'compute',
      'compute',
      'chunk',
      'chunk',
      'compute',
    ]);
    expect(session.tokens).toEqual(wholePrompt);
    expect(store.leases).toBe(0);
  });

  test('a chunk found damaged while it is used is quarantined and computed', async () => {
    const { parts, options, session, store, keys, wholePrompt } = await fixture([true, true, true]);
    store.damage(keys[0] ?? '');
    store.damage(keys[2] ?? '');
    const { outcomes, quarantined } = await blend(parts, options);
    expect(outcomes).toEqual(['computed', 'disk', 'computed']);
    expect(quarantined).toEqual([0, 2]);
    expect(store.quarantined).toEqual([keys[0], keys[2]]);
    expect(session.tokens).toEqual(wholePrompt);
    expect(store.leases).toBe(0);
  });

  test('a chunk that the disk does not return is computed, and stays', async () => {
    const { parts, options, session, store, keys, wholePrompt } = await fixture([true, true, true]);
    store.detach(keys[0] ?? '');
    store.away.add(keys[2] ?? '');
    expect(await blend(parts, options)).toMatchObject({
      ...{ outcomes: ['computed', 'disk', 'computed'], quarantined: [], lost: [0, 2] },
    });
    expect(store.quarantined).toEqual([]);
    expect(session.tokens).toEqual(wholePrompt);
    expect(store.leases).toBe(0);
  });

  test('the other chunks of a drive that is gone are computed, and not tried', async () => {
    const { parts, options, store, keys } = await fixture([true, true, true]);
    store.detach(keys[0] ?? '');
    store.onDrive.add(keys[0] ?? '').add(keys[2] ?? '');
    store.damage(keys[2] ?? ''); // would be quarantined
    expect(await blend(parts, options)).toMatchObject({
      ...{ outcomes: ['computed', 'disk', 'computed'], quarantined: [], lost: [0, 2] },
    });
    expect(store.leases).toBe(0);
  });

  test('a chunk found damaged when it is opened is reported, too', async () => {
    const { parts, options, store, keys } = await fixture([true, true]);
    store.lost.add(keys[1] ?? '');
    expect(await blend(parts, options)).toMatchObject({ outcomes: ['disk', 'computed'], quarantined: [1] });
  });

  test('a chunk in the memory of the model’s device is reported as such', async () => {
    const { parts, options, model, store, keys } = await fixture([true, true, false]);
    model.there.add(keys[0] ?? '').add(keys[2] ?? '');
    const { outcomes, reuse } = await blend(parts, options);
    expect(outcomes).toEqual(['device', 'disk', 'computed']);
    expect(reuse[0]).toMatchObject({ tier: 'device' });
    expect(store.leases).toBe(0);
  });

  test('full computes everything and opens nothing', async () => {
    const { parts, options, session } = await fixture([true, true], { kind: 'full' });
    expect((await blend(parts, options)).outcomes).toEqual(['computed', 'computed']);
    expect(session.segments.every(({ kind }) => kind === 'compute')).toBe(true);
  });

  test('chunks that an answer computed instead of reading count as used; those of a measurement do not', async () => {
    const { parts, options, store, keys } = await fixture([true, true, false], { kind: 'full' });
    await blend(parts, options);
    expect(store.usedKeys).toEqual([]);
    await blend(parts, { ...options, requestClass: 'question' });
    expect(store.usedKeys).toEqual(keys);
    store.usedKeys.length = 0;
    const computed = parts.map((part, i) => ({ ...part, compute: part.kind === 'chunk' && i === 1 }));
    const strategy = { kind: 'none' } as const;
    await blend(computed, { ...options, strategy, requestClass: 'question' });
    expect(store.usedKeys).toHaveLength(computed.filter(({ compute }) => compute).length);
    expect(store.leases).toBe(0);
  });

  test('leases are released when it fails', async () => {
    const { parts, options, store } = await fixture([true, true]);
    await expect(blend(parts, { ...options, signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: 'ABORTED',
    });
    expect(store.leases).toBe(0);
  });

  test('keys depend on model, dtype, tokens and lead', () => {
    const tokens = Int32Array.of(1, 2);
    const model = new FakeModel();
    const keys = [
      keyFor(model, 'f16', { tokens }),
      keyFor(model, 'q8_0', { tokens }),
      keyFor(model, 'f16', { tokens: Int32Array.of(2, 1) }),
      keyFor(model, 'f16', { tokens, lead: Int32Array.of(2) }),
      keyFor(new FakeModel({ fingerprint: 'e'.repeat(64) }), 'f16', { tokens }),
    ];
    expect(new Set(keys).size).toBe(5);
  });

  test('a chunk stored in f16 is converted instead of computed again', async () => {
    const model = new FakeModel();
    const store = new FakeStore();
    const chunk = { tokens: Int32Array.of(1, 2) };
    const times: number[] = [];
    const onEncoded = (_: number, ms: number): void => void times.push(ms);
    await encodeAndStore(model, store, [chunk], { dtype: 'q8_0', label: '', onEncoded });
    expect([model.encoded, times.length]).toEqual([1, 1]);
    await encodeAndStore(model, store, [chunk], { dtype: 'f16', label: '' });
    expect(model.encoded).toBe(2); // q8_0 has lost bits
    await encodeAndStore(model, store, [chunk], { dtype: 'q4', label: '', onEncoded });
    expect([model.encoded, times.length]).toEqual([2, 1]);
    expect(store.chunks.get(keyFor(model, 'q4', chunk))?.dtype).toBe('q4');
  });

  test('chunks that continue each other are encoded in one pass', async () => {
    const model = new FakeModel();
    const store = new FakeStore();
    const [a, b, c, d] = [
      { tokens: Int32Array.of(1, 2), lead: Int32Array.of(9) },
      { tokens: Int32Array.of(3), lead: Int32Array.of(9, 1, 2) },
      { tokens: Int32Array.of(4), lead: Int32Array.of(9, 1, 2) }, // another document that begins alike
      { tokens: Int32Array.of(5), lead: Int32Array.of(9, 1, 2, 3, 7, 8) },
    ] as const;
    const passes: number[] = [];
    const options = { label: '', onEncoded: (tokens: number) => void passes.push(tokens) };
    const areStored = (dtype: KvDtype) => [a, b, c, d].map((each) => store.has(keyFor(model, dtype, each)));
    await encodeAndStore(model, store, [d, b, c, a, b], { dtype: 'f16', ...options });
    // a, b and d with what lies between them; c after its lead.
    expect([passes, areStored('f16'), store.chunks.size]).toEqual([[7, 4], [true, true, true, true], 4]);
    store.chunks.delete(keyFor(model, 'f16', b));
    await encodeAndStore(model, store, [a, b, d], { dtype: 'q8_0', ...options });
    expect([passes.slice(2), areStored('q8_0')]).toEqual([[4], [true, true, false, true]]); // only b is computed
  });
});
