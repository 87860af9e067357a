import type { SettingsInput } from '../../../src-shared/settings.ts';
import { App } from '../../app.ts';
import type { CommandContext } from './context.ts';

/** Kvasir for one command; says what the start found, e.g. data that was damaged and set aside. As App.open. */
export async function openApp(
  { flags, terminal }: Pick<CommandContext, 'flags' | 'terminal'>,
  overrides: Partial<SettingsInput> = {},
): Promise<App> {
  const app = await App.open({ dataDir: flags().data, overrides });
  for (const { message, advice } of app.takeFound()) terminal.err(`Note: ${message} ${advice}`);
  return app;
}
