/** A utility process of Electron has a port instead of a child process's pipe. */
const { parentPort } = process;

/** Call it before the process's own module is loaded. */
export function sendByPort(): void {
  process.send = (message: unknown) => {
    parentPort.postMessage(message);
    return true;
  };
}

/** Call it after that module: the port buffers messages until there is a listener. */
export function listenToPort(): void {
  parentPort.on('message', ({ data }: { data: unknown }) => process.emit('message', data, undefined));
}
