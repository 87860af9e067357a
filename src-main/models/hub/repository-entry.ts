import type { HubEntry } from '../../../src-shared/contract/hub.ts';
import type { GgufInfo } from '../../engine/engine.ts';
import type { Listed } from './hub-api.ts';

/** What hubs call the tasks of models that Kvasir knows something about. */
const TASKS: Readonly<Record<string, HubEntry['role']>> = {
  'text-generation': 'chat',
  'image-text-to-text': 'chat',
  'any-to-any': 'chat',
  conversational: 'chat',
  'text2text-generation': 'chat',
  'feature-extraction': 'embedding',
  'sentence-similarity': 'embedding',
  'text-ranking': 'reranker',
  'text-classification': 'reranker',
};

/** A repository as lists show it. */
export function entryOf(listed: Listed): HubEntry {
  const { id, gated, downloads, likes, gguf, lastModified } = listed;
  return {
    ...{ repository: id, downloads, likes, architecture: gguf.architecture, parameterCount: gguf.total },
    role: roleOf(listed),
    license: listed.tags.find((tag) => tag.startsWith('license:'))?.slice('license:'.length) ?? '',
    gated: gated === false ? 'no' : gated,
    updatedMs: Date.parse(lastModified) || 0,
  };
}

/** What its task says of a model; rerankers are often called something else, and tell by their names. */
function roleOf({ id, pipeline_tag: task, tags }: Listed): HubEntry['role'] {
  if (/rerank/i.test(id) || tags.includes('reranker')) return 'reranker';
  return TASKS[task] ?? (task === '' ? null : 'other');
}

/** What the header says goes before that, where it can tell: of rerankers some look like chat models. */
export function roleBy(listed: HubEntry['role'], header: GgufInfo): HubEntry['role'] {
  if (header.reranker) return 'reranker';
  if (header.embedding) return 'embedding';
  return listed ?? 'chat';
}
