import type { ApiCore } from '../core.ts';

/** Ollama's names end with a tag, which is "latest" where there is no other. */
const LATEST = ':latest';

/** A name in Ollama's form. */
export function tagged(name: string): string {
  return /:[^/]+$/.test(name) ? name : name + LATEST;
}

/** The model that a client means, by its name with or without the tag. */
export function nameOf(model: string, { completions }: Pick<ApiCore, 'completions'>): string {
  const isName = completions.models().some(({ name }) => name === model);
  return isName || !model.endsWith(LATEST) ? model : model.slice(0, -LATEST.length);
}
