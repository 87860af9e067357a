/**
 * Why the passages of a model that libllama runs cannot be blended: it keeps a running state instead of KV, its KV is compressed
 * (MLA), or nobody taught our own engine its architecture; and why those of a model on a server cannot: it is sent text.
 */
export const BLENDING_OBSTACLES = ['running-state', 'compressed-kv', 'architecture', 'remote'] as const;

export type BlendingObstacle = (typeof BLENDING_OBSTACLES)[number];

/** In one sentence, in English. */
export function whyNotBlended(model: string, obstacle: BlendingObstacle): string {
  switch (obstacle) {
    case 'running-state':
      return `${model} keeps a running state instead of KV; its passages cannot be blended yet.`;
    case 'compressed-kv':
      return `${model} keeps its KV compressed; its passages cannot be blended yet.`;
    case 'architecture':
      return `${model} is of an architecture that Kvasir does not blend yet; its prompts are computed whole.`;
    case 'remote':
      return `${model} is on a server, which is sent passages as text; nothing is computed ahead here.`;
  }
}
