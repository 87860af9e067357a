/**
 * Runs prefills, blends and decoding on a device in many processes and counts failures: driver bugs with freed memory, and kernels that do
 * not wait for each other, show up in some processes only.
 *
 *   npm run parity:processes -- --device Vulkan0 [--processes 100] [--at-once 1] [--arch llama] [--type f32]
 *                               [--models 1] [--prefills 6] [--blends 0] [--decodes 0] [--tokens 64]
 *
 * A backend that is not part of the project (ggml's Vulkan) is found if its library is in build/ggml/packs. Exit code 1 if a process
 * crashed or its logits differ from the CPU's.
 */
import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { MKGGUF, randomModel } from '../random-model/random-model.ts';

const { values: args } = parseArgs({
  options: {
    device: { type: 'string', default: 'cpu' },
    processes: { type: 'string', default: '100' },
    'at-once': { type: 'string', default: '1' },
    arch: { type: 'string', default: 'llama' },
    type: { type: 'string', default: 'f32' },
    models: { type: 'string', default: '1' },
    prefills: { type: 'string', default: '6' },
    blends: { type: 'string', default: '0' },
    decodes: { type: 'string', default: '0' },
    tokens: { type: 'string', default: '64' },
  },
});

const { processes, 'at-once': atOnce, arch, type, device, ...passes } = args;
const program = join(dirname(MKGGUF), process.platform === 'win32' ? 'kvasir-passes.exe' : 'kvasir-passes');
const model = randomModel({ arch, type, layers: 4, vocab: 600 });
const flags = Object.entries({ model, device, ...passes }).flatMap(([key, value]) => [`--${key}`, value]);

let started = 0;
let failed = 0;

/** Runs processes, one after another, until all have been started. */
async function runSome(): Promise<void> {
  while (started < Number(processes)) {
    const number = ++started;
    const end = await new Promise<string>((resolve) => {
      execFile(program, flags, { cwd: join(import.meta.dirname, '..', '..') }, (error, stdout, stderr) => {
        if (error) failed++;
        resolve(`${error ? 'FAILED' : 'ok'}, ${error?.signal ?? (stdout || stderr).trim()}`);
      });
    });
    console.log(`${number}: ${end}`);
  }
}

await Promise.all(Array.from({ length: Number(atOnce) }, runSome));
console.log(`${failed} of ${processes} processes failed.`);
process.exit(failed === 0 ? 0 : 1);
