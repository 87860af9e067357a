/**
 * Runs prefills, blends and decoding on a device in many processes, one after another, and counts failures: driver bugs with freed memory
 * show up in some processes only.
 *
 *   npm run parity:processes -- --device Vulkan0 [--processes 100] [--models 1] [--prefills 6] [--blends 0] [--decodes 0] [--tokens 64]
 *
 * A backend that is not part of the project (ggml's Vulkan) is found if its library is in build/ggml/packs. Exit code 1 if a process
 * crashed or its logits differ from the CPU's.
 */
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { MKGGUF, randomModel } from '../random-model/random-model.ts';

const { values: args } = parseArgs({
  options: {
    device: { type: 'string', default: 'cpu' },
    processes: { type: 'string', default: '100' },
    models: { type: 'string', default: '1' },
    prefills: { type: 'string', default: '6' },
    blends: { type: 'string', default: '0' },
    decodes: { type: 'string', default: '0' },
    tokens: { type: 'string', default: '64' },
  },
});

const { processes, device, ...passes } = args;
const program = join(dirname(MKGGUF), process.platform === 'win32' ? 'kvasir-passes.exe' : 'kvasir-passes');
const model = randomModel({ arch: 'llama', type: 'f32', layers: 4, vocab: 600 });
const flags = Object.entries({ model, device, ...passes }).flatMap(([key, value]) => [`--${key}`, value]);

let failed = 0;
for (let i = 1; i <= Number(processes); i++) {
  const { status, signal, stdout, stderr } = spawnSync(program, flags, {
    cwd: join(import.meta.dirname, '..', '..'),
    encoding: 'utf8',
  });
  if (status !== 0) failed++;
  const end = signal ?? (stdout || stderr).trim();
  console.log(`${i}: ${status === 0 ? 'ok' : 'FAILED'}, ${end}`);
}
console.log(`${failed} of ${processes} processes failed.`);
process.exit(failed === 0 ? 0 : 1);
