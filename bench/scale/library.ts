import { join } from 'node:path';
import { Catalogue } from '../../src-main/catalogue/catalogue.ts';
import { Engine } from '../../src-main/engine/engine.ts';
import { randomFrom } from '../../src-main/testing/random.ts';
import { zipf } from '../lib/draws.ts';
import { Progress } from '../lib/progress.ts';

const DEMO = join(import.meta.dirname, '..', '..', 'resources', 'models', 'kvasir-demo.gguf');
/** The settings' default. */
export const CHUNK_TOKENS = 512;
/** Of the vectors' model. */
export const IDENTITY = 'bench';

const PASSAGES_IN_DOCUMENT = 50;
const WORDS_IN_PASSAGE = 120;
const TOKENS_IN_PASSAGE = 160;
const VOCABULARY = 200_000;
/** Passages about one topic have vectors around one centre. */
const TOPICS = 1000;
/** Length of a vector's random part relative to its topic's. */
const NOISE = 1.2;

/** The most frequent words: every text has them, and they tell its language. */
const FUNCTION_WORDS =
  'the of and to a in is that for it as was with be by on not he his but at are this have from or had an they which one you were her all she there would their we him been has when who will more no if out so said what up its about into than them can only other new some could time these two may then do first any my now such like our over man me even most made after also did many before must through back years where much your way well down should because each just those people how too little state good very make world still own see men work long get here between both life being under never day same another know while last might us great old year off come since against go came right used take three'.split(
    ' ',
  );

/** Texts whose words follow Zipf's law, and unit vectors around topics, both from a seed. */
export class ScaleTexts {
  readonly #random: () => number;
  readonly #rank: () => number;
  readonly #topics: Float32Array;
  readonly dimension: number;

  constructor(dimension: number, seed: number) {
    this.dimension = dimension;
    this.#random = randomFrom(seed);
    this.#rank = zipf(VOCABULARY, 1, this.#random);
    const topics = randomFrom(7); // the same for every seed
    this.#topics = Float32Array.from({ length: TOPICS * dimension }, () => normal(topics));
  }

  text(words = WORDS_IN_PASSAGE): string {
    return Array.from({ length: words }, () => wordOf(this.#rank())).join(' ');
  }

  /** Some words of a text, in their order. */
  some(text: string, count: number): string {
    const words = text.split(' ');
    const from = Math.floor(this.#random() * (words.length - count));
    return words.slice(from, from + count).join(' ');
  }

  vector(topic = Math.floor(this.#random() * TOPICS)): Float32Array {
    const at = topic * this.dimension;
    const values = this.#topics.slice(at, at + this.dimension);
    for (let i = 0; i < values.length; i++) values[i] = (values[i] ?? 0) + NOISE * normal(this.#random);
    const length = Math.hypot(...values);
    return values.map((value) => value / length);
  }

  below(count: number): number {
    return Math.floor(this.#random() * count);
  }
}

/** A sum of uniform numbers: close enough to a normal distribution, and fast. */
function normal(random: () => number): number {
  return (random() + random() + random() + random() - 2) * Math.sqrt(3);
}

function wordOf(rank: number): string {
  const known = FUNCTION_WORDS[rank];
  if (known !== undefined) return known;
  let word = '';
  // Steps through the syllables in an order that scatters neighbouring ranks over the alphabet.
  for (let left = (rank * 104_729) % 4_084_101; word === '' || left > 0; left = Math.floor(left / 65))
    word += 'bcdfghjklmnpr'.charAt(left % 13) + 'aeiou'.charAt(Math.floor(left / 13) % 5);
  return word;
}

/** Writes a catalogue with this many passages of one library, all ready, with vectors. */
export async function writeScaleLibrary(path: string, passages: number, dimension: number): Promise<void> {
  const fingerprint = await Engine.open().fingerprint(DEMO);
  const catalogue = Catalogue.open(path);
  const texts = new ScaleTexts(dimension, 1);
  const library = catalogue.libraries.create('Scale');
  const root = catalogue.libraries.addRoot(library, {
    kind: 'folder',
    path: join(path, '..', 'none'),
    watched: false,
  });
  const set = { libraryId: library, fingerprint, chunkTokens: CHUNK_TOKENS, prefix: Int32Array.of(1) };
  const setId = catalogue.chunkTable.setId(set);
  const model = catalogue.vectors.modelId(IDENTITY);
  const progress = new Progress(Math.ceil(passages / PASSAGES_IN_DOCUMENT), 'documents written');
  for (let first = 0, n = 1; first < passages; first += PASSAGES_IN_DOCUMENT, n++) {
    const count = Math.min(PASSAGES_IN_DOCUMENT, passages - first);
    catalogue.transaction(() => {
      const documentId = writeDocument(catalogue, { library, root, n, count });
      const title = `Document ${n}`;
      const tokens = Int32Array.from({ length: TOKENS_IN_PASSAGE }, () => texts.below(4096));
      for (let ordinal = 0; ordinal < count; ordinal++) {
        const text = texts.text();
        const place = { ordinal, start: ordinal * 1000, end: ordinal * 1000 + text.length };
        tokens[0] = first + ordinal;
        catalogue.chunkTable.insert(setId, documentId, {
          ...place,
          title,
          text,
          tokens,
          lead: new Int32Array(),
        });
      }
      catalogue.chunkTable.finish(setId, documentId, String(n), count, count * TOKENS_IN_PASSAGE);
      const ids = catalogue.chunkTable.ids(setId, documentId);
      catalogue.vectors.put(
        model,
        ids.map((id) => [id, Buffer.from(texts.vector().buffer)] as const),
      );
      catalogue.kvKeys.add(new Map(ids.map((id) => [id, String(id).padStart(64, '0')])), 'f16');
    });
    progress.step();
    await catalogue.rest();
  }
  catalogue.setState('paused', 'true');
  catalogue.setState('sample-library', 'made');
  catalogue.close();
}

function writeDocument(
  { documents }: Catalogue,
  { library, root, n, count }: Record<'library' | 'root' | 'n' | 'count', number>,
): number {
  const path = `folder ${n % 100}/document ${n}.md`;
  documents.queueFile(library, root, { path, format: 'md', bytes: count * 1000, mtimeMs: n });
  const { id } = documents.ofPath(root, path) ?? {};
  if (id === undefined) throw new Error('a document was not written');
  const facts = { title: `Document ${n}`, sha256: String(n), bytes: count * 1000, mtimeMs: n, seenMs: n };
  documents.beginAttempt(id);
  documents.setRead(
    id,
    { ...facts, warnings: [], textLength: count * 1000, headings: [], pages: [] },
    'chunking',
  );
  documents.advance(id, 'chunking', 'ready');
  return id;
}
