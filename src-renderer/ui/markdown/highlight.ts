import type { CSSProperties } from 'react';
import { createHighlighterCore, type HighlighterCore } from 'shiki/core';
import { createJavaScriptRegexEngine } from 'shiki/engine/javascript';
import { LANGUAGES, type LanguageName } from './languages.ts';

export interface CodeToken {
  text: string;
  /** Both themes' colours as CSS variables; the style sheet selects one. */
  style: CSSProperties;
}

let highlighter: Promise<HighlighterCore> | undefined;

/** Highlights code, line by line. Uses the engine without WebAssembly, which the page's policy forbids. */
export async function highlight(code: string, language: LanguageName): Promise<CodeToken[][]> {
  highlighter ??= createHighlighterCore({
    engine: createJavaScriptRegexEngine({ forgiving: true }),
    themes: [import('shiki/themes/github-light-high-contrast.mjs'), import('shiki/themes/github-dark.mjs')],
    langs: [],
  });
  const shiki = await highlighter;
  await shiki.loadLanguage(LANGUAGES[language]);
  const { tokens } = shiki.codeToTokens(code, {
    lang: language,
    themes: { light: 'github-light-high-contrast', dark: 'github-dark' },
    defaultColor: false,
  });
  return tokens.map((line) =>
    line.map(({ content, htmlStyle }) => ({ text: content, style: { ...htmlStyle } })),
  );
}
