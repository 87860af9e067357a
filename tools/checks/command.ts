import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { ROOT } from '../setup/platform.mjs';

export interface CommandResult {
  code: number;
  output: string;
}

/** Runs a program in the project's root. `show` also prints its output as it arrives. */
export function runCommand(command: string, args: string[], show = false): Promise<CommandResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const collect = (target: NodeJS.WriteStream) => (text: string) => {
      output += text;
      if (show) target.write(text);
    };
    child.stdout.setEncoding('utf8').on('data', collect(process.stdout));
    child.stderr.setEncoding('utf8').on('data', collect(process.stderr));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code: code ?? 1, output }));
  });
}

/** Runs a JavaScript program from node_modules on the current Node. */
export function runTool(path: string, args: string[], show = false): Promise<CommandResult> {
  return runCommand(process.execPath, [join(ROOT, 'node_modules', path), ...args], show);
}
