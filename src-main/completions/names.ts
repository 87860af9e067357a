import type { ModelEntry } from '../../src-shared/contract/models.ts';
import { KvasirError } from '../../src-shared/errors.ts';

/** A model or library with the name that requests use. */
export interface ListedModel {
  name: string;
  kind: ModelEntry['role'] | 'library';
}

export interface NamedLibrary {
  id: string;
  name: string;
}

type Entry = Pick<ModelEntry, 'name' | 'role' | 'active'>;

/** Prefix of the model names of libraries. */
const LIBRARY = 'kvasir/';

export function modelNameOf(library: string): string {
  return LIBRARY + library;
}

/** Whether a name is that of a library, existing or not. */
export function isLibraryName(model: string): boolean {
  return model.startsWith(LIBRARY);
}

/** The models in use and the libraries: any other name is rejected. */
export function listedModels(entries: readonly Entry[], libraries: readonly NamedLibrary[]): ListedModel[] {
  const inUse = entries.filter(({ active }) => active).map(({ name, role }) => ({ name, kind: role }));
  const names = new Set(libraries.map(({ name }) => modelNameOf(name)));
  return [...inUse, ...[...names].map((name) => ({ name, kind: 'library' as const }))];
}

/** The library with this model name; undefined when the name is not a library's. NOT_FOUND, BAD_ARGUMENT when several share it. */
export function libraryNamed(
  model: string,
  libraries: () => readonly NamedLibrary[],
): NamedLibrary | undefined {
  if (!isLibraryName(model)) return undefined;
  const name = model.slice(LIBRARY.length);
  const all = libraries();
  const [library, other] = all.filter((each) => each.name === name);
  if (!library) {
    const known = all.map((each) => modelNameOf(each.name)).join(', ');
    const advice = known === '' ? 'Add a library in the window.' : `Available: ${known}.`;
    throw new KvasirError('NOT_FOUND', `There is no library called ${JSON.stringify(name)}.`, advice);
  }
  if (other) {
    const message = `Two libraries are called ${JSON.stringify(name)}.`;
    throw new KvasirError('BAD_ARGUMENT', message, 'Give one of them another name.');
  }
  return library;
}

/** The model in use, if this is its name. NOT_FOUND. */
export function requireInUse<M extends { name: string }>(
  model: string,
  active: M | undefined,
  listed: () => readonly Entry[],
  role: ModelEntry['role'] = 'chat',
): M {
  if (active?.name === model) return active;
  const entries = listed();
  // Its name in the list is without its adapter's.
  if (active && entries.some((each) => each.active && each.role === role && each.name === model))
    return active;
  const what = { chat: 'answers', embedding: 'embeds', reranker: 'reranks' }[role];
  const known = entries.some(({ name }) => name === model);
  const message = known
    ? `The model ${JSON.stringify(model)} is available, but it is not the one that ${what} now.`
    : `There is no model called ${JSON.stringify(model)}.`;
  const instead = active
    ? `Ask for ${JSON.stringify(active.name)}, or choose another`
    : `No model ${what} now: choose one`;
  throw new KvasirError('NOT_FOUND', message, `${instead} on the Models screen, or with \`model use\`.`);
}
