// Gives a plain Node process the environment of the bundled parser in Electron's utility process: a port to its parent, and no other input.
const send = process.send.bind(process);
const emit = process.emit.bind(process);
const listeners = [];
let forwarding = false;

process.parentPort = {
  postMessage: (message) => send(message),
  on: (_, listener) => listeners.push(listener),
};

process.emit = (name, ...values) => {
  // Events that a port's listener emits on the process are meant for the process.
  if (name !== 'message' || forwarding) return emit(name, ...values);
  forwarding = true;
  for (const listener of listeners) listener({ data: values[0] });
  forwarding = false;
  return true;
};
