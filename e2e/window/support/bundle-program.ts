/** Playwright's global setup: the program that tests start. */
export { bundleProgram as default } from '../../../tools/setup/setup.mjs';
