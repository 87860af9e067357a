import type { Message } from '../../src-shared/contract/chat.ts';
import type { ChunkRow } from '../../src-main/catalogue/catalogue.ts';
import type { App } from '../../src-main/app.ts';
import { ask, withAnswer, type ClientAnswer, type Question } from '../../src-main/hosts/client/ask.ts';
import type { CoreClient } from '../../src-main/hosts/client/client.ts';
import { localClient } from '../../src-main/hosts/client/session.ts';
import type { Model } from '../../src-main/engine/engine.ts';
import { LocalModels } from '../../src-main/models/active-model.ts';
import type { FolderReport } from '../../src-main/library/read-folder.ts';
import type { Profile } from '../../src-main/profile.ts';

/** A folder's library, read for a client with its own model, as a command does. */
export interface ReadLibrary extends FolderReport {
  client: CoreClient;
  profile: Profile;
  model: Model;
  chunkSetId: number;
  chunks: () => Iterable<ChunkRow>;
  /** Reads it again. */
  read: (options?: { precompute?: boolean | undefined }) => Promise<FolderReport>;
  ask: (question: Question) => Promise<ClientAnswer>;
  /** The same; the answer as the window has it. */
  message: (question: Question) => Promise<Message>;
}

/** Default: the sample library and the demo model. */
export async function readLibrary(
  app: App,
  { path, model: name, precompute }: { path?: string; model?: string; precompute?: boolean } = {},
): Promise<ReadLibrary> {
  const client = localClient(app);
  await client.call('command.profile', { model: name });
  const profile = [...app.profiles].at(-1);
  if (!profile) throw new Error('no profile');
  const read: ReadLibrary['read'] = (options = {}) => client.call('libraries.read', { path, ...options });
  const report = await read({ precompute });
  const { model, chunkTokens } = await new LocalModels(profile.models).current();
  const { chunkTable } = app.catalogue;
  const chunkSetId = chunkTable.findSet(Number(report.libraryId), model.info.fingerprint, chunkTokens) ?? -1;
  const defaults = { scope: { libraryIds: [report.libraryId] }, seed: 0 };
  return {
    ...report,
    client,
    profile,
    model,
    chunkSetId,
    chunks: () => app.catalogue.chunks(chunkSetId),
    read,
    ask: (question) => ask(client, { ...defaults, ...question }),
    message: (question) =>
      withAnswer(client, { ...defaults, ...question }, (message) => Promise.resolve(message)),
  };
}
