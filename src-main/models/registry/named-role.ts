const RERANKER = /rerank/i;
/** As the engine recognises files (native/llama/embedder.cc). */
const EMBEDDER = /embedding|(?:^|[-_./])(?:embed|e5|gte|bge|retriever|minilm)(?=[-_./:]|$)/i;

/** What a model's or repository's name says that it is for; undefined for any other name, such as a chat model's. */
export function namedRole(name: string): 'embedding' | 'reranker' | undefined {
  if (RERANKER.test(name)) return 'reranker';
  return EMBEDDER.test(name) ? 'embedding' : undefined;
}
