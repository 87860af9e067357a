import type { Notice } from '../../src-shared/answer.ts';
import type { Language } from './i18n.ts';
import { notices as zh } from './zh/notices.ts';

const NOTICES: Partial<Record<Language, typeof zh>> = { zh };

/**
 * A notice in the window's language, by its kind. `detail` is what the core said, in English, since it has numbers and names; empty where that
 * is what is shown already.
 */
export function noticeWords(
  { kind, message }: Notice,
  language: string,
): { message: string; detail: string } {
  const known = NOTICES[language as Language]?.[kind];
  return known === undefined ? { message, detail: '' } : { message: known, detail: message };
}
