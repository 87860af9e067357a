/**
 * Tokens a second behind contexts of several lengths, with the attention kernel that KVASIR_ATTENTION names, for both
 * precisions in turn: `node decode.ts MODEL.gguf THREADS TOKENS ROUNDS CONTEXT…` → JSON on stdout.
 */
import { Engine, type KvDtype, type Model, type Segment } from '../../src-main/engine/engine.ts';
import { randomTokens } from '../../tools/parity/compare.ts';

/** One session's best speed. */
export interface DecodeSpeed {
  kv: KvDtype;
  context: number;
  tokensPerSecond: number;
}

const CHUNK_TOKENS = 512;
const [path = '', threads, tokens, rounds, ...contexts] = process.argv.slice(2);
const PRECISIONS: readonly KvDtype[] = ['f16', 'q8_0'];

/** A session of `context` tokens, nearly all of them one chunk again and again: reading the KV costs the same. */
async function filled(model: Model, context: number) {
  const chunk = await model.encodeChunk(randomTokens(CHUNK_TOKENS, model.info.vocabSize), 'f16');
  const session = model.createSession(context + Number(tokens) * (Number(rounds) + 1) + 64);
  const segments: Segment[] = Array.from({ length: Math.floor(context / CHUNK_TOKENS) }, () => ({
    kind: 'chunk',
    chunk,
  }));
  segments.push({ kind: 'compute', tokens: randomTokens(16, model.info.vocabSize, 2) });
  await session.append(segments, { kind: 'none' });
  chunk.dispose();
  return session;
}

const engine = Engine.open();
const models = await Promise.all(
  PRECISIONS.map((kvDtype) => engine.loadModel(path, { threads: Number(threads), device: 'cpu', kvDtype })),
);
const speeds: DecodeSpeed[] = [];
for (const context of contexts.map(Number)) {
  const sessions = await Promise.all(models.map((model) => filled(model, context)));
  const best = PRECISIONS.map(() => 0);
  for (let round = 0; round <= Number(rounds); round++)
    for (const [i, session] of sessions.entries()) {
      const { tokens: made, ms } = await session.generate({ maxTokens: Number(tokens) });
      // The first round takes memory and plans the graph.
      if (round > 0) best[i] = Math.max(best[i] ?? 0, (1000 * made.length) / ms);
    }
  for (const [i, kv] of PRECISIONS.entries()) speeds.push({ kv, context, tokensPerSecond: best[i] ?? 0 });
  for (const session of sessions) session.dispose();
}
console.log(JSON.stringify(speeds));
for (const model of models) model.dispose();
