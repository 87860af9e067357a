import type { App, Workspace } from '../../app.ts';
import type { CommandContext } from './context.ts';
import { openApp } from './open-app.ts';
import { settingsOf, type ModelFlags } from './options.ts';

interface WorkspaceFlags extends ModelFlags {
  /** Folder of documents; absent: the sample library. */
  library?: string | undefined;
}

/** Opens the app for one command, with the folder and the model that its flags name, and closes it in every case. */
export async function withWorkspace(
  context: CommandContext,
  flags: WorkspaceFlags,
  work: (app: App, workspace: Workspace) => Promise<void>,
): Promise<void> {
  const app = await openApp(context, settingsOf(flags));
  try {
    const root = flags.library ?? app.paths.sampleLibrary;
    const { model: modelPath, adapter } = flags;
    await work(app, await app.workspaces.open({ root, modelPath, adapter }));
  } finally {
    await app.close();
  }
}
