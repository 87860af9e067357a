import { createRequire, syncBuiltinESMExports } from 'node:module';

const builtin = createRequire(import.meta.url);

/** Modules of which this process needs nothing: other programs, host names, datagrams, databases with files, debuggers. */
const MODULES =
  'child_process cluster dgram dns dns/promises inspector inspector/promises node:sqlite trace_events wasi';
/** Functions that get around these: raw bindings, threads, which have modules of their own, signals, files of diagnostics. */
const FUNCTIONS: Record<string, string> = {
  process: 'binding _linkedBinding dlopen execve kill _kill _debugProcess',
  module: 'register enableCompileCache',
  worker_threads: 'Worker',
  v8: 'writeHeapSnapshot setHeapSnapshotNearHeapLimit startupSnapshot',
};
/** Functions of `fs` that change files. */
const WRITES =
  /^(?:append|chmod|chown|copy|cp|createWrite|[fl]?chmod|[fl]?chown|[fl]?utimes|f?truncate|link|mkd|mkdtemp|rename|rm|symlink|unlink|write|Write|FileWrite)/;

type Functions = Record<string, unknown> & { prototype?: Functions };

/**
 * Removes from this process what reading a document does not need: connections, host names, other processes, threads, native code, writing
 * files, and environment variables, which may contain secrets. Node's permissions cover neither the network nor signals nor `node:sqlite`,
 * and Electron's processes do not have them. A defence against exploited parsers, not against native code.
 */
export function confine(): void {
  // All are loaded before any is changed: they use each other.
  const modules = MODULES.split(' ').map((name) => builtin(name) as Functions);
  const { Socket, Server } = builtin('net') as Record<'Socket' | 'Server', { prototype: Functions }>;
  Socket.prototype.connect = refuse;
  Server.prototype.listen = refuse;
  for (const functions of modules) refuseAll(functions);
  for (const [name, functions] of Object.entries(FUNCTIONS))
    for (const one of functions.split(' ')) (builtin(name) as Functions)[one] = refuse;
  process.report.writeReport = refuse;
  // Electron has Node's `fs` a second time, beside its own, which reads archives.
  for (const name of ['fs', 'fs/promises', 'original-fs']) {
    const files = process.getBuiltinModule(name) as Functions | undefined;
    if (files) readOnly(files);
  }
  syncBuiltinESMExports();
  for (const name of Object.keys(process.env)) if (!KEPT.has(name)) Reflect.deleteProperty(process.env, name);
}

function refuse(): never {
  throw new Error(
    'Reading a document needs no network, other process or changed file; this process refuses them.',
  );
}

/** The classes' methods too: Node's own modules hold the classes. */
function refuseAll(functions: Functions, matching = /^(?!constructor$)/): void {
  for (const name of Object.getOwnPropertyNames(functions)) {
    const property = Object.getOwnPropertyDescriptor(functions, name);
    const value: unknown = property?.value;
    if (typeof value !== 'function' || property?.writable !== true || !matching.test(name)) continue;
    const { prototype } = value as unknown as Functions;
    if (prototype) refuseAll(prototype);
    functions[name] = refuse;
  }
}

function readOnly(files: Functions): void {
  refuseAll(files, WRITES);
  for (const name of ['open', 'openSync']) {
    const open = files[name];
    if (typeof open !== 'function') continue;
    files[name] = (path: unknown, flags: unknown, ...rest: unknown[]): unknown =>
      flags === undefined || flags === 'r' || flags === 0 || typeof flags === 'function'
        ? (Reflect.apply(open, files, [path, flags, ...rest]) as unknown)
        : refuse();
  }
}

/** Variables that the runtime itself reads. */
const KEPT = new Set([
  'LANG',
  'LC_ALL',
  'TZ',
  'SystemRoot',
  'NODE_CHANNEL_FD',
  'NODE_CHANNEL_SERIALIZATION_MODE',
]);
