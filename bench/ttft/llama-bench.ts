import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Method } from './ours.ts';

const run = promisify(execFile);

/**
 * A full prefill by another build of llama.cpp's own `llama-bench`, such as that of a fork (ik_llama.cpp). `command`: the program, then the
 * settings it is fastest with here, separated by spaces. Each run starts the program, which warms up and then times one prompt.
 */
export function llamaBenchMethod(command: string, model: string, threads: number): Method {
  const [program = '', ...settings] = command.trim().split(/\s+/);
  return {
    name: 'llama-bench full prefill',
    run: async ({ ids }) => {
      const measured = ['-m', model, '-t', String(threads), '-p', String(ids.length), '-n', '0', '-r', '1'];
      const { stdout } = await run(program, [...measured, ...settings, '-o', 'json']);
      const [result] = JSON.parse(stdout.slice(stdout.indexOf('['))) as { avg_ns: number }[];
      if (!result) throw new Error(`${program} measured nothing: ${stdout}`);
      return { ms: result.avg_ns / 1e6 };
    },
  };
}
