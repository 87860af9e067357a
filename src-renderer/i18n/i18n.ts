import i18next from 'i18next';
import { initReactI18next } from 'react-i18next';
import { en } from './words.ts';
import { zh } from './zh/index.ts';

declare module 'i18next' {
  interface CustomTypeOptions {
    defaultNS: 'common';
    resources: typeof en;
  }
}

export type Language = 'en' | 'zh';

/** Resolves the language setting on this machine. */
export function languageFor(
  setting: 'system' | Language,
  system: readonly string[] = navigator.languages,
): Language {
  if (setting !== 'system') return setting;
  return system[0]?.toLowerCase().startsWith('zh') ? 'zh' : 'en';
}

/** Starts in the system language; setLanguage() applies the setting later. */
export async function startI18n(): Promise<void> {
  await i18next.use(initReactI18next).init({
    resources: { en, zh },
    lng: languageFor('system'),
    fallbackLng: 'en',
    ns: Object.keys(en),
    defaultNS: 'common',
    interpolation: { escapeValue: false }, // React escapes
    returnNull: false,
  });
  document.documentElement.lang = i18next.language;
}

export async function setLanguage(language: Language): Promise<void> {
  await i18next.changeLanguage(language);
  document.documentElement.lang = language === 'zh' ? 'zh-CN' : 'en';
}
