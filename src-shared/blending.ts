/**
 * Why the passages of a model that libllama runs cannot be blended: it keeps a running state instead of KV, its KV is compressed
 * (MLA), or nobody taught our own engine its architecture.
 */
export const BLENDING_OBSTACLES = ['running-state', 'compressed-kv', 'architecture'] as const;

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
  }
}
