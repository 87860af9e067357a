import type { Notice } from '../../src-shared/answer.ts';
import type { Language } from './i18n.ts';
import { notices as zh } from './zh/notices.ts';

const NOTICES: Partial<Record<Language, typeof zh>> = { zh };

/**
 * A notice in the window's language, by its kind. `detail` is the core's English text, since it has numbers and names;
 * empty if that is already shown.
 */
export function noticeWords(
  { kind, message }: Notice,
  language: string,
): { message: string; detail: string } {
  const known = NOTICES[language as Language]?.[kind];
  return known === undefined ? { message, detail: '' } : { message: known, detail: message };
}
