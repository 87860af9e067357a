import type { ModelInUse } from '../../../src-shared/contract/models.ts';
import { failureFor } from '../../sharing/failures.ts';
import type { CoreClient } from '../client/client.ts';
import type { CommandContext } from './context.ts';
import { settingsOf, type ModelFlags } from './options.ts';
import type { Terminal } from './terminal.ts';

/** Runs work of a client with the model and the settings of a command's flags. */
export async function withProfile(
  { withClient, terminal }: CommandContext,
  flags: ModelFlags,
  work: (client: CoreClient, model: ModelInUse) => Promise<void>,
): Promise<void> {
  const { model, adapter } = flags;
  await withClient({ model, adapter, settings: settingsOf(flags) }, async (client) => {
    for (const { message, advice } of await client.call('app.found'))
      terminal.err(`Note: ${message} ${advice}`);
    const { status } = await client.call('sharing.info');
    try {
      await work(client, await client.call('models.current'));
    } finally {
      await noteSharing(client, status.corrupt, terminal);
    }
  });
}

/** Chunks that the shared cache failed to deliver were computed, so the failure would go unnoticed. */
async function noteSharing(client: CoreClient, corruptBefore: number, terminal: Terminal): Promise<void> {
  const { corrupt, failure, where } = (await client.call('sharing.info')).status;
  // A damaged value that has been rewritten no longer has a failure.
  const told = corrupt > corruptBefore ? failureFor('damaged', where) : failure;
  if (told) terminal.err(`Note: ${told.message} ${told.advice}`.trimEnd());
}
