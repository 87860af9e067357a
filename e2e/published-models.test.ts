/** Published models, if `npm run models` has downloaded them. */
import { expect, onTestFinished, test } from 'vitest';
import { Engine } from '../src-main/engine/engine.ts';
import { MINILM_FILE, published } from '../tools/models/files.ts';

const minilm = published(MINILM_FILE);

test.skipIf(minilm === undefined)(
  'all-MiniLM-L6-v2 distinguishes texts of the same meaning from others',
  async () => {
    const engine = Engine.open();
    const path = minilm ?? '';
    expect(engine.inspect(path)).toMatchObject({
      architecture: 'bert',
      embedding: true,
      name: 'all-MiniLM-L6-v2',
    });
    const embedder = await engine.loadEmbedder(path);
    onTestFinished(() => embedder.dispose());
    const texts = [
      'The harbour closes at ten.',
      'Ships cannot enter the port after 10 pm.',
      'Stir the flour into the milk.',
    ];
    const vectors = await embedder.embed(texts);
    const width = vectors.length / texts.length;
    const [harbour, port, flour] = texts.map((_, i) => vectors.subarray(i * width, (i + 1) * width));
    const likeness = (a: Float32Array = new Float32Array(), b: Float32Array = new Float32Array()) =>
      a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0);
    expect(likeness(harbour, port)).toBeGreaterThan(likeness(harbour, flour) + 0.3);
  },
);
