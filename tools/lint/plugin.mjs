import { importDirection } from './import-direction.mjs';

/** The name of the native addon's file in code; a substitute for ESLint's no-restricted-syntax. */
const noNativeAddon = {
  meta: { type: 'problem', docs: { description: 'only src-main/engine loads the native addon' }, schema: [] },
  create(/** @type {any} */ context) {
    return {
      Literal(/** @type {any} */ node) {
        if (typeof node.value !== 'string' || !node.value.endsWith('.node')) return;
        const message = 'Only src-main/engine loads the native addon: use the Engine class.';
        context.report({ node, message });
      },
    };
  },
};

/** Backend.turn(), by which every answer is made. */
const oneTurn = {
  meta: { type: 'problem', docs: { description: 'only AnswerMaker takes a turn with a model' }, schema: [] },
  create(/** @type {any} */ context) {
    return {
      CallExpression(/** @type {any} */ node) {
        if (node.callee.type !== 'MemberExpression' || node.callee.property.name !== 'turn') return;
        const message = 'Every answer is made in one place: hand an Ask to AnswerMaker.answer.';
        context.report({ node, message });
      },
    };
  },
};

const SERVER_QUESTION =
  'Only the backends and the list of models ask whether a model is on a server: use Backend or LocalModels.';

/** Where a model runs matters to its backend and to the list of models alone. */
const noServerQuestion = {
  meta: { type: 'problem', docs: { description: 'no question about servers elsewhere' }, schema: [] },
  create(/** @type {any} */ context) {
    const report = (/** @type {any} */ node) => context.report({ node, message: SERVER_QUESTION });
    return {
      Identifier(/** @type {any} */ node) {
        if (/^(is(Remote|OnServer|Local)|canBlend)$/.test(node.name)) report(node);
      },
      BinaryExpression(/** @type {any} */ node) {
        const { operator, left, right } = node;
        if (
          operator === 'instanceof'
            ? right.name === 'ServerModel'
            : [left.value, right.value].includes('remote')
        )
          report(node);
      },
    };
  },
};

/** Our own rules, for oxlint. */
export default {
  meta: { name: 'kvasir' },
  rules: {
    'import-direction': importDirection,
    'no-native-addon': noNativeAddon,
    'one-turn': oneTurn,
    'no-server-question': noServerQuestion,
  },
};
