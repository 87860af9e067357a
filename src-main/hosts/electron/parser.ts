/** The parser's process under Electron: what is a child process's pipe elsewhere, is a port here. */
const { parentPort } = process;
process.argv[2] = process.argv.at(-1) ?? '';
process.send = (message: unknown) => {
  parentPort.postMessage(message);
  return true;
};

await import('../../library/parser/worker.ts');

// Only now: the port keeps what comes before somebody listens.
parentPort.on('message', ({ data }: { data: unknown }) => process.emit('message', data, undefined));
