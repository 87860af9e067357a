// Gives a plain Node process what the bundled parser finds in Electron's utility process: a port to its parent, and
// nothing that arrives in any other way.
const send = process.send.bind(process);
const emit = process.emit.bind(process);
const listeners = [];
let forwarding = false;

process.parentPort = {
  postMessage: (message) => send(message),
  on: (_, listener) => listeners.push(listener),
};

process.emit = (name, ...values) => {
  // What a listener of the port emits on the process itself is meant for the process.
  if (name !== 'message' || forwarding) return emit(name, ...values);
  forwarding = true;
  for (const listener of listeners) listener({ data: values[0] });
  forwarding = false;
  return true;
};
