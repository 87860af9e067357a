import type { Failure } from '../../../src-shared/contract/common.ts';
import type { SettingsInput } from '../../../src-shared/settings.ts';
import { App } from '../../app.ts';
import type { CommandContext } from './context.ts';

/** Kvasir for one command; says what the start found, e.g. data that was damaged and set aside, and what is noticed later. As App.open. */
export async function openApp(
  { flags, terminal }: Pick<CommandContext, 'flags' | 'terminal'>,
  overrides: Partial<SettingsInput> = {},
): Promise<App> {
  const app = await App.open({ dataDir: flags().data, overrides });
  const note = ({ message, advice }: Failure): void => terminal.err(`Note: ${message} ${advice}`);
  app.takeFound().forEach(note);
  app.events.on(({ topic, payload }) => {
    if (topic === 'app.notice') note(payload.failure);
  });
  return app;
}
