/**
 * Why a model's passages cannot be blended: for libllama models, it keeps a running state instead of KV, its KV is
 * compressed (MLA), or our own engine does not support its architecture; for remote models, the server receives text.
 */
export const BLENDING_OBSTACLES = ['running-state', 'compressed-kv', 'architecture', 'remote'] as const;

export type BlendingObstacle = (typeof BLENDING_OBSTACLES)[number];

/** The reason in one sentence, in English. */
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
