/** The parser's process under Electron: what is a child process's pipe elsewhere, is a port here. */
const { parentPort } = process;
const maxMemoryBytes = process.argv.at(-1) ?? '';
process.argv[2] = maxMemoryBytes;
process.send = (message: unknown) => {
  parentPort.postMessage(message);
  return true;
};
parentPort.on('message', ({ data }: { data: unknown }) => process.emit('message', data, undefined));

await import('../../library/parser/worker.ts');
