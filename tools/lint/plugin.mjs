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

/** Our own rules, for oxlint. */
export default {
  meta: { name: 'kvasir' },
  rules: { 'import-direction': importDirection, 'no-native-addon': noNativeAddon },
};
