import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { ModelEntry } from '../../../src-shared/contract/models.ts';
import { KvasirError } from '../../../src-shared/errors.ts';
import type { CoreClient } from '../client/client.ts';

/**
 * Loads a model and makes it the one in use, now and at the next start: by its name in the list, or a file, which is
 * added to the list. NOT_FOUND, BAD_ARGUMENT if several have the name, and the errors of models.import and
 * models.activate.
 */
export async function useModel(
  given: string,
  cwd: string,
  client: Pick<CoreClient, 'call'>,
): Promise<ModelEntry> {
  const models = await client.call('models.list');
  const [named, other] = models.filter(({ name }) => name === given);
  if (other) {
    const message = `Two models are called ${JSON.stringify(given)}.`;
    throw new KvasirError('BAD_ARGUMENT', message, 'Give the path of its file.');
  }
  const path = resolve(cwd, given);
  if (!named && !existsSync(path)) {
    const message = `There is neither a model nor a file called ${JSON.stringify(given)}.`;
    const known = models.map(({ name }) => JSON.stringify(name)).join(', ');
    throw new KvasirError('NOT_FOUND', message, `Available: ${known}.`);
  }
  const { id } = named ?? (await client.call('models.import', { path }));
  return client.call('models.activate', { id });
}
