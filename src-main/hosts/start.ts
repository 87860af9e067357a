// `npm start`: opens the desktop app if possible, else shows the same window in a browser; with a command, it is the
// command line.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { appRoot } from '../platform/root.ts';
import { chooseHost, electronBinary } from './window/choose-host.ts';
import { hasDisplay } from './window/display.ts';

const args = process.argv.slice(2);
const root = appRoot();
const choice = chooseHost(args, { electron: electronBinary(root), display: hasDisplay() });
if (choice.reason !== '') process.stdout.write(`${choice.reason}\n`);

if (choice.electron === undefined) await import('./command-line/cli.ts');
else runElectron(choice.electron);

function runElectron(binary: string): void {
  const env = { ...process.env };
  delete env['ELECTRON_RUN_AS_NODE'];
  const child = spawn(binary, [root, ...args], { stdio: 'inherit', env });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    process.stderr.write(`${binary} could not be started: ${error.message}\n`);
    process.exitCode = 1;
  });
  child.on('exit', (code, signal) => {
    process.exitCode = signal === null ? (code ?? 1) : 128 + constants.signals[signal];
  });
}
