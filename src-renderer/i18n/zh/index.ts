import type { en, Words } from '../en/index.ts';
import { common } from './common.ts';
import { models } from './models.ts';
import { settings } from './settings.ts';

export const zh: Words<typeof en> = { common, models, settings };
