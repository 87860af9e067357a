// Preloaded (`node --import`) into the process under test: counts the calls that change files and, at the requested call, kills the process
// as a power cut would, or reports a full disk. SQLite's own writes are not counted: they are transactions, which SQLite's own tests cover.
//   KVASIR_KILL_AT=n    SIGKILL before the n-th call
//   KVASIR_FULL_FROM=n  ENOSPC from the n-th call that allocates disk space
//   KVASIR_FAULTS_IN    count only calls whose first path contains this
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const killAt = Number(process.env.KVASIR_KILL_AT ?? 0);
const fullFrom = Number(process.env.KVASIR_FULL_FROM ?? 0);
const within = process.env.KVASIR_FAULTS_IN ?? '';

const TAKES_ROOM = ['mkdir', 'writeFile', 'appendFile', 'copyFile', 'open'];
const CHANGES = [...TAKES_ROOM, 'rename', 'rm', 'rmdir', 'unlink', 'truncate', 'link', 'symlink'];
let calls = 0;

/** @param {string} name @param {unknown[]} args */
function counted(name, args) {
  if (!String(args[0]).includes(within)) return;
  if (name === 'open' && !/[wa+]/.test(String(args[1] ?? 'r'))) return;
  calls++;
  if (calls === killAt) process.kill(process.pid, 'SIGKILL');
  if (fullFrom > 0 && calls >= fullFrom && TAKES_ROOM.includes(name))
    throw Object.assign(new Error(`ENOSPC: no space left on device, ${name} '${String(args[0])}'`), {
      code: 'ENOSPC',
      errno: -28,
      syscall: name,
    });
}

for (const name of CHANGES) {
  const sync = `${name}Sync`;
  const original = Reflect.get(fs, sync);
  Reflect.set(fs, sync, (/** @type {unknown[]} */ ...args) => {
    counted(name, args);
    return original(...args);
  });
  const later = Reflect.get(fs.promises, name);
  if (later)
    Reflect.set(fs.promises, name, async (/** @type {unknown[]} */ ...args) => {
      counted(name, args);
      return later(...args);
    });
}
syncBuiltinESMExports();
