// Gives a plain Node process the environment of the bundled parser in Electron's utility process: a port to its parent, and no other input.
type Listener = (message: { data: unknown }) => void;

const send = process.send?.bind(process);
const emit = process.emit.bind(process) as (name: string, ...values: unknown[]) => boolean;
const listeners: Listener[] = [];
let forwarding = false;

process.parentPort = {
  postMessage: (message: unknown) => send?.(message),
  on: (_: 'message', listener: Listener) => listeners.push(listener),
} as unknown as typeof process.parentPort;

process.emit = ((name: string, ...values: unknown[]) => {
  // Events that a port's listener emits on the process are meant for the process.
  if (name !== 'message' || forwarding) return emit(name, ...values);
  forwarding = true;
  for (const listener of listeners) listener({ data: values[0] });
  forwarding = false;
  return true;
}) as typeof process.emit;
