import type { App, Workspace } from '../../app.ts';
import { adjustedFailure } from '../../platform/settings.ts';
import type { CommandContext } from './context.ts';
import { settingsOf, type ModelFlags } from './options.ts';

interface WorkspaceFlags extends ModelFlags {
  /** Folder of documents; absent: the sample library. */
  library?: string | undefined;
}

/** Opens the folder and the model that a command's flags name, with the settings they override for it, and closes them in every case. */
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
    try {
      await work(app, workspace);
    } finally {
      await app.workspaces.close(workspace);
    }
  });
}
