import { cpSync, existsSync, renameSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../../tools/setup/platform.mjs';
import { mustRun } from '../../tools/setup/process.mjs';
import { withSource } from '../../tools/setup/source.mjs';
import { checkTools } from '../../tools/setup/steps/tools.mjs';

const BUILD = join(ROOT, 'build', 'llama-server');
const SOURCE = join(BUILD, 'source');
const BINARY = join(BUILD, 'bin', 'llama-server');

const ON = ['GGML_NATIVE', 'LLAMA_BUILD_TOOLS', 'LLAMA_BUILD_SERVER'];
const OFF = [
  ...['BUILD_SHARED_LIBS', 'LLAMA_BUILD_TESTS', 'LLAMA_BUILD_EXAMPLES', 'LLAMA_BUILD_APP'],
  ...['LLAMA_BUILD_UI', 'LLAMA_USE_PREBUILT_UI', 'LLAMA_OPENSSL'],
];

/**
 * llama.cpp's server: KVASIR_LLAMA_SERVER, or a build for this CPU from the source of the release of our libraries. The first build takes a
 * while; an interrupted build resumes.
 */
export async function provideLlamaServer(say: (line: string) => void): Promise<string> {
  const named = process.env['KVASIR_LLAMA_SERVER'];
  if (named !== undefined && named !== '') return named;
  if (existsSync(BINARY)) return BINARY;
  if (!existsSync(SOURCE))
    await withSource(['.'], say, (source) => {
      // Renamed once it is complete.
      const copying = `${SOURCE}.part`;
      rmSync(copying, { recursive: true, force: true });
      cpSync(source, copying, { recursive: true });
      renameSync(copying, SOURCE);
    });
  const { cmake, generator } = await checkTools(() => undefined);
  const settings = [
    ...['-DCMAKE_BUILD_TYPE=Release', ...generator],
    ...[...ON.map((name) => `-D${name}=ON`), ...OFF.map((name) => `-D${name}=OFF`)],
  ];
  const cores = String(availableParallelism());
  say("building llama.cpp's server");
  for (const args of [
    ['-S', SOURCE, '-B', BUILD, ...settings],
    ['--build', BUILD, '--target', 'llama-server', '--parallel', cores],
  ])
    await mustRun("llama.cpp's server did not build.", cmake, args, { cwd: ROOT });
  return BINARY;
}
