import type { en, Words } from '../en/index.ts';
import { common } from './common.ts';

export const zh: Words<typeof en> = { common };
