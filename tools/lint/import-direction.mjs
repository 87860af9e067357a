import { dirname, relative, resolve } from 'node:path';
import { isBuiltin } from 'node:module';
import { LAYERS, PRIVATE_FILES, PRIVATE_PACKAGES, TESTING } from './layers.mjs';

/**
 * Explains in one sentence why `file` may not import `source` and lists the permitted imports; undefined if it may.
 *
 * @param {string} file path relative to the project's root, with forward slashes
 * @param {string} source as written in the import
 * @returns {string | undefined}
 */
export function importProblem(file, source) {
  const from = layerOf(file);
  if (from === undefined) {
    return file.startsWith('src-')
      ? `${file} is in no layer: give its folder a place in tools/lint/layers.mjs.`
      : undefined;
  }
  return source.startsWith('.')
    ? fileProblem(from, isTest(file), `${dirname(file)}/${source}`, source)
    : packageProblem(from, isTest(file), source);
}

/**
 * The rule for oxlint and ESLint around importProblem.
 */
export const importDirection = {
  meta: {
    type: 'problem',
    docs: { description: 'imports follow the layers of tools/lint/layers.mjs' },
    messages: { direction: '{{problem}}' },
    schema: [],
  },
  create(/** @type {any} */ context) {
    const file = slashed(relative(context.cwd, context.filename));
    const check = (/** @type {any} */ { source }) => {
      if (typeof source?.value !== 'string') return;
      const problem = importProblem(file, source.value);
      if (problem !== undefined) context.report({ node: source, messageId: 'direction', data: { problem } });
    };
    return {
      ImportDeclaration: check,
      ExportNamedDeclaration: check,
      ExportAllDeclaration: check,
      ImportExpression: check,
      TSImportType: check,
    };
  },
};

/**
 * @param {import('./layers.mjs').Layer} from
 * @param {boolean} inTest
 * @param {string} target
 * @param {string} source
 */
function fileProblem(from, inTest, target, source) {
  const path = slashed(relative('.', resolve(target)));
  const owned = PRIVATE_FILES.find((entry) => entry.path === path && entry.owner !== from.path);
  if (owned !== undefined) {
    return `${owned.path} belongs to ${owned.owner} alone: ${from.path} imports ${owned.instead} instead.`;
  }
  const to = layerOf(path);
  if (to === undefined || to === from || from.imports.includes(to.path)) return undefined;
  if (inTest && to.path === TESTING) return undefined;
  const allowed = from.imports.length === 0 ? 'nothing but its own files' : from.imports.join(', ');
  return `${from.path} must not import ${to.path} (${source}). It may import: ${allowed}.`;
}

/** @param {import('./layers.mjs').Layer} from @param {boolean} inTest @param {string} source */
function packageProblem(from, inTest, source) {
  if (inTest) return undefined;
  const name = source
    .split('/')
    .slice(0, source.startsWith('@') ? 2 : 1)
    .join('/');
  if (isBuiltin(source)) {
    return from.builtins === false
      ? `${from.path} must not import ${source}: it runs without Node.`
      : undefined;
  }
  const owned = PRIVATE_PACKAGES.find((entry) => entry.name === name && entry.owner !== from.path);
  if (owned !== undefined) return `Only ${owned.owner} may import ${name}; this is ${from.path}.`;
  if (from.packages === undefined || from.packages.includes(name)) return undefined;
  return `${from.path} must not import ${name}. It may import these packages: ${from.packages.join(', ')}.`;
}

/** @param {string} path */
function layerOf(path) {
  return LAYERS.find((layer) => path === layer.path || path.startsWith(`${layer.path}/`));
}

/** @param {string} file */
function isTest(file) {
  return /\.test(-support)?\.tsx?$/.test(file);
}

/** @param {string} path */
function slashed(path) {
  return path.replaceAll('\\', '/');
}
