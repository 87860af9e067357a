// Gives a plain Node process what the bundled parser finds in Electron's utility process: a port to its parent.
const send = process.send.bind(process);
let forwarding = false;
process.parentPort = {
  postMessage: (message) => send(message),
  on: (_, listener) =>
    process.on('message', (data) => {
      // What the listener emits on the process itself comes back here.
      if (forwarding) return;
      forwarding = true;
      listener({ data });
      forwarding = false;
    }),
};
