import type { App, Workspace } from '../../app.ts';
import { adjustedFailure } from '../../platform/settings.ts';
import { failureFor } from '../../sharing/failures.ts';
import type { CommandContext } from './context.ts';
import { settingsOf, type ModelFlags } from './options.ts';
import type { Terminal } from './terminal.ts';

interface WorkspaceFlags extends ModelFlags {
  /** Folder of documents; absent: the sample library. */
  library?: string | undefined;
}

/** Opens the folder and the model from a command's flags, with overridden settings, and always closes them. */
export async function withWorkspace(
  { withApp, terminal }: CommandContext,
  flags: WorkspaceFlags,
  work: (app: App, workspace: Workspace) => Promise<void>,
): Promise<void> {
  await withApp(async (app) => {
    const overrides = settingsOf(flags);
    const settings = app.settings.with(overrides);
    for (const adjusted of settings.adjusted) {
      const { message, advice } = adjustedFailure(adjusted);
      if (adjusted.name in overrides) terminal.err(`Note: ${message} ${advice}`);
    }
    const root = flags.library ?? app.paths.sampleLibrary;
    const { model: modelPath, adapter } = flags;
    const workspace = await app.workspaces.open({ root, modelPath, adapter, settings });
    const { corrupt } = app.sharing.status();
    try {
      await work(app, workspace);
    } finally {
      noteSharing(app, corrupt, terminal);
      await app.workspaces.close(workspace);
    }
  });
}

/** Chunks that the shared cache failed to deliver were computed, so the failure would go unnoticed. */
function noteSharing({ sharing }: App, corruptBefore: number, terminal: Terminal): void {
  const { corrupt, failure, where } = sharing.status();
  // A damaged value that has been rewritten no longer has a failure.
  const told = corrupt > corruptBefore ? failureFor('damaged', where) : failure;
  if (told) terminal.err(`Note: ${told.message} ${told.advice}`.trimEnd());
}
