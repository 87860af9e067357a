import type { Catalogue } from '../../src-main/catalogue/catalogue.ts';
import { Engine } from '../../src-main/engine/engine.ts';
import type { ActiveEmbedder, EmbedderSource } from '../../src-main/models/active-model.ts';
import { rulesOf, vectorVariant } from '../../src-main/models/embedding/rules.ts';
import { Gate } from '../../src-main/platform/gate.ts';
import { silentLogger } from '../../src-main/platform/logger.ts';
import { SearchService } from '../../src-main/retrieval/search-service.ts';
import { SearchThread } from '../../src-main/retrieval/search-thread.ts';
import { VectorIndexes } from '../../src-main/retrieval/vector-indexes.ts';

/** Returns the chunks that the product's own search finds for a question, best first. */
type Search = (question: string) => Promise<number[]>;

/** The search with words alone, then with each model that is given. */
export async function* searchers(
  catalogue: Catalogue,
  {
    path,
    set,
    topK,
    embedder,
    reranker,
  }: { path: string } & Record<'set' | 'topK', number> & Record<'embedder' | 'reranker', string | undefined>,
): AsyncGenerator<[way: string, Search]> {
  const engine = Engine.open();
  const listeners = new Set<(active: ActiveEmbedder | undefined) => void>();
  const models = {
    embedder: undefined as ActiveEmbedder | undefined,
    reranker: undefined as EmbedderSource['reranker'],
    onChange: () => () => undefined,
    onEmbedderChange: (listener: (active: ActiveEmbedder | undefined) => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  const sets = { chunkTokens: undefined, chunkSets: () => [set] };
  const searches = new SearchThread(path);
  const vectors = new VectorIndexes(catalogue.vectors, engine, searches);
  const service = new SearchService({
    catalogue,
    searches,
    vectors,
    sets,
    models,
    gate: new Gate(),
    log: silentLogger,
  });
  const search: Search = async (question) => {
    const { chunks } = await service.find(question, { scope: { libraryIds: [], documentIds: [] }, topK });
    return chunks.toSorted((a, b) => b.score - a.score).map(({ chunkId }) => chunkId);
  };
  yield ['words', search];
  if (embedder !== undefined) {
    const model = { header: engine.inspect(embedder), path: embedder, prefixes: null };
    const rules = rulesOf(model);
    const identity = embedder + vectorVariant(rules, model.header);
    const { pooling, end, tokens } = rules;
    const loaded = await engine.loadEmbedder(embedder, { pooling, end, tokens });
    models.embedder = { id: embedder, identity, rules, embedder: loaded };
    for (const listener of listeners) listener(models.embedder);
    await service.idle();
    yield ['words and vectors', search];
  }
  if (reranker !== undefined) {
    models.reranker = { id: reranker, reranker: await engine.loadEmbedder(reranker) };
    yield ['reranked', search];
  }
  await service.close();
  await searches.close();
}
