import type { LanguageRegistration } from 'shiki/types';

type GrammarLoader = () => Promise<{ default: LanguageRegistration[] }>;

/** The bundled grammars; each is loaded when first used. */
export const LANGUAGES = {
  bash: () => import('shiki/langs/bash.mjs'),
  c: () => import('shiki/langs/c.mjs'),
  cpp: () => import('shiki/langs/cpp.mjs'),
  csharp: () => import('shiki/langs/csharp.mjs'),
  css: () => import('shiki/langs/css.mjs'),
  diff: () => import('shiki/langs/diff.mjs'),
  docker: () => import('shiki/langs/docker.mjs'),
  go: () => import('shiki/langs/go.mjs'),
  html: () => import('shiki/langs/html.mjs'),
  ini: () => import('shiki/langs/ini.mjs'),
  java: () => import('shiki/langs/java.mjs'),
  javascript: () => import('shiki/langs/javascript.mjs'),
  json: () => import('shiki/langs/json.mjs'),
  kotlin: () => import('shiki/langs/kotlin.mjs'),
  latex: () => import('shiki/langs/latex.mjs'),
  lua: () => import('shiki/langs/lua.mjs'),
  make: () => import('shiki/langs/make.mjs'),
  markdown: () => import('shiki/langs/markdown.mjs'),
  php: () => import('shiki/langs/php.mjs'),
  powershell: () => import('shiki/langs/powershell.mjs'),
  python: () => import('shiki/langs/python.mjs'),
  r: () => import('shiki/langs/r.mjs'),
  ruby: () => import('shiki/langs/ruby.mjs'),
  rust: () => import('shiki/langs/rust.mjs'),
  sql: () => import('shiki/langs/sql.mjs'),
  swift: () => import('shiki/langs/swift.mjs'),
  toml: () => import('shiki/langs/toml.mjs'),
  tsx: () => import('shiki/langs/tsx.mjs'),
  typescript: () => import('shiki/langs/typescript.mjs'),
  xml: () => import('shiki/langs/xml.mjs'),
  yaml: () => import('shiki/langs/yaml.mjs'),
} satisfies Record<string, GrammarLoader>;

export type LanguageName = keyof typeof LANGUAGES;

const ALIASES: Readonly<Record<string, LanguageName>> = {
  sh: 'bash',
  shell: 'bash',
  zsh: 'bash',
  console: 'bash',
  h: 'c',
  'c++': 'cpp',
  cc: 'cpp',
  hpp: 'cpp',
  'c#': 'csharp',
  cs: 'csharp',
  patch: 'diff',
  dockerfile: 'docker',
  golang: 'go',
  js: 'javascript',
  jsx: 'tsx',
  mjs: 'javascript',
  json5: 'json',
  jsonc: 'json',
  kt: 'kotlin',
  tex: 'latex',
  makefile: 'make',
  md: 'markdown',
  ps1: 'powershell',
  py: 'python',
  python3: 'python',
  rb: 'ruby',
  rs: 'rust',
  ts: 'typescript',
  svg: 'xml',
  yml: 'yaml',
};

/** The grammar for a fence's info string; undefined if none is bundled. */
export function languageNamed(name: string): LanguageName | undefined {
  const lower = name.toLowerCase();
  if (Object.hasOwn(LANGUAGES, lower)) return lower as LanguageName;
  return Object.hasOwn(ALIASES, lower) ? ALIASES[lower] : undefined;
}
