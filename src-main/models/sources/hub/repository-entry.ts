import { ownValue } from '../../../../src-shared/own-value.ts';
import type { HubEntry } from '../../../../src-shared/contract/hub.ts';
import type { GgufInfo } from '../../../engine/engine.ts';
import { roleOf as roleOfHeader } from '../../registry/entry.ts';
import { namedRole } from '../../registry/named-role.ts';
import type { RepositoryInfo } from './hub-api.ts';

/** The hub's task names for models that Kvasir distinguishes. */
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

export function entryOf(listed: RepositoryInfo): HubEntry {
  const { id, gated, downloads, gguf, lastModified } = listed;
  return {
    ...{ repository: id, downloads, architecture: gguf.architecture, parameterCount: gguf.total },
    role: roleOf(listed),
    license: listed.tags.find((tag) => tag.startsWith('license:'))?.slice('license:'.length) ?? '',
    gated: gated === false ? 'no' : gated,
    updatedMs: Date.parse(lastModified) || 0,
  };
}

/** A model's role according to its task; rerankers and embedding models often have another task and are recognised by name. */
function roleOf({ id, pipeline_tag: task, tags }: RepositoryInfo): HubEntry['role'] {
  const named = namedRole(id);
  if (named === 'reranker' || tags.includes('reranker')) return 'reranker';
  const role = ownValue(TASKS, task) ?? (task === '' ? null : 'other');
  return role === 'chat' || role === null ? (named ?? role) : role;
}

/** The header's role overrides the task's, where it can tell: some rerankers look like chat models. */
export function roleBy(listed: HubEntry['role'], header: GgufInfo): HubEntry['role'] {
  const role = roleOfHeader(header);
  return role === 'chat' ? (listed ?? role) : role;
}
