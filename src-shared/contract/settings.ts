import { procedure } from './define.ts';
import { NothingSchema } from './common.ts';
import { SettingsChangesSchema, SettingsSchema } from '../settings.ts';

export const settingsContract = {
  'settings.get': procedure(NothingSchema, SettingsSchema),
  /** Changes some settings. They take effect immediately, unless the schema says "after a restart". */
  'settings.update': procedure(SettingsChangesSchema, SettingsSchema),
};
