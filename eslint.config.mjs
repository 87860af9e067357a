import js from '@eslint/js';
import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';
import reactHooks from 'eslint-plugin-react-hooks';
import { importDirection } from './tools/lint/import-direction.mjs';

export default defineConfig(
  globalIgnores(['build/', 'out/', 'dist/', '.setup/', 'coverage/', 'resources/', 'native/']),
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  {
    files: ['**/*.{ts,tsx}'],
    extends: [js.configs.recommended, tseslint.configs.strictTypeChecked],
    languageOptions: {
      parserOptions: {
        project: [
          'tsconfig.main.json',
          'tsconfig.renderer.json',
          'tsconfig.tools.json',
          'tsconfig.window.json',
        ],
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      '@typescript-eslint/consistent-type-imports': 'error',
      // Numbers and booleans read well in messages.
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true },
      ],
      // `() => abort.abort()` and `return refuse(…)` are shorter than the braces they would need.
      '@typescript-eslint/no-confusing-void-expression': [
        'error',
        { ignoreArrowShorthand: true, ignoreVoidReturningFunctions: true },
      ],
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
    },
  },
  {
    files: ['**/*.test.{ts,tsx}', '**/*.spec.ts', '**/*.test-support.ts', 'src-main/testing/*.ts'],
    rules: {
      // A test that fails on an unexpected undefined has done its work.
      '@typescript-eslint/no-non-null-assertion': 'off',
      // Fakes answer at once where the real thing would wait.
      '@typescript-eslint/require-await': 'off',
    },
  },
  // Playwright reads from the pattern which fixtures a fixture needs; `{}` says none.
  { files: ['e2e/window/**/*.ts'], rules: { 'no-empty-pattern': 'off' } },
  {
    files: ['**/*.mjs'],
    extends: [js.configs.recommended],
    languageOptions: { globals: nodeGlobals() },
  },
  {
    files: ['**/*.{ts,tsx,mjs}'],
    plugins: { kvasir: { rules: { 'import-direction': importDirection } } },
    rules: {
      'kvasir/import-direction': 'error',
      eqeqeq: 'error',
      'no-console': 'off',
    },
  },
  { files: ['src-renderer/**/*.{ts,tsx}'], extends: [reactHooks.configs.flat.recommended] },
  {
    files: ['src-*/**/*.ts'],
    ignores: ['src-main/engine/**', '**/*.test.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        {
          selector: 'Literal[value=/\\.node$/]',
          message: 'Only src-main/engine loads the native addon: use the Engine class.',
        },
      ],
    },
  },
);

/** The globals of Node that setup's plain JavaScript uses. */
function nodeGlobals() {
  const names = [
    'process',
    'console',
    'Buffer',
    'performance',
    'setTimeout',
    'clearTimeout',
    'setInterval',
    'clearInterval',
    'URL',
  ];
  return Object.fromEntries(names.map((name) => [name, 'readonly']));
}
