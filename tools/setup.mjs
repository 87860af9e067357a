#!/usr/bin/env node
// `npm run setup`: prepares a fresh clone. No dependencies; runs on Node 20 or newer.
import { SetupError } from './setup/errors.mjs';
import { setup } from './setup/setup.mjs';
import { BACKEND_NAMES } from './setup/steps/backends.mjs';

const HELP = `Usage: npm run setup [-- --vulkan] [--cuda]

Installs packages, downloads ggml's headers and prebuilt libraries, builds the native engine and the window.
Does nothing if nothing changed. Needs git and a C++20 compiler; never needs root.

  --vulkan  also install the Vulkan backend, for most GPUs (27 MB; Linux and Windows on x64). KVASIR_VULKAN=1 does the same.
  --cuda    also install the CUDA backend, for NVIDIA's (143 MB; the same systems). KVASIR_CUDA=1 does the same.
  --help    show this text
`;

const args = process.argv.slice(2);
const unknown = args.find((arg) => !['--vulkan', '--cuda', '--help', '-h'].includes(arg));

if (unknown !== undefined) {
  console.error(`setup does not know ${unknown}.\n\n${HELP}`);
  process.exitCode = 2;
} else if (args.includes('--help') || args.includes('-h')) {
  console.log(HELP);
} else {
  try {
    await setup({
      backends: BACKEND_NAMES.filter((name) => args.includes(`--${name}`)),
      quietWhenFresh: false,
    });
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    console.error(`\n${error.message}${error.details === '' ? '' : `\n\n${error.details}`}`);
    process.exitCode = 1;
  }
}
