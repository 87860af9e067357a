/** What is a child process's pipe elsewhere, is a port in a utility process of Electron. */
const { parentPort } = process;

/** Before the process's own module is loaded. */
export function sendByPort(): void {
  process.send = (message: unknown) => {
    parentPort.postMessage(message);
    return true;
  };
}

/** Behind it: the port keeps what comes before somebody listens. */
export function listenToPort(): void {
  parentPort.on('message', ({ data }: { data: unknown }) => process.emit('message', data, undefined));
}
