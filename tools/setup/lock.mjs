import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const HEARTBEAT_MS = 2_000;
/** A holder on another machine (a shared folder) counts as dead after this long without a heartbeat. */
const SILENT_MS = 60_000;
/** So does a local holder whose process id exists: by then it most likely belongs to another process. */
const SILENT_THOUGH_ALIVE_MS = 600_000;
const POLL_MS = 200;

/** @typedef {{ id: string, pid: number, host: string }} Holder */

/**
 * Runs `work` while holding an exclusive lock on the folder. Takes over a lock left by a dead process.
 *
 * @template T
 * @param {string} folder
 * @param {(holder: Holder) => void} onWait called once if another process holds the lock
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withLock(folder, onWait, work) {
  const path = join(folder, 'lock');
  const own = { id: randomUUID(), pid: process.pid, host: hostname() };
  mkdirSync(folder, { recursive: true });
  let told = false;
  while (!create(path, own)) {
    const holder = read(path);
    if (isStale(path, holder)) {
      takeOver(path, holder);
      continue;
    }
    if (!told && holder !== undefined) {
      told = true;
      onWait(holder);
    }
    await sleep(POLL_MS);
  }
  const release = () => {
    if (read(path)?.id === own.id) rmSync(path, { force: true });
  };
  const heartbeat = setInterval(() => {
    const now = new Date();
    try {
      utimesSync(path, now, now);
    } catch {
      // The folder disappeared; the steps will report that.
    }
  }, HEARTBEAT_MS);
  process.once('exit', release);
  try {
    return await work();
  } finally {
    clearInterval(heartbeat);
    process.off('exit', release);
    release();
  }
}

/** @param {string} path @param {Holder} own */
function create(path, own) {
  try {
    writeFileSync(path, JSON.stringify(own), { flag: 'wx' });
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

/**
 * @param {string} path
 * @returns {Holder | undefined} undefined if there is none, or if it is still being written
 */
function read(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}

/** @param {string} path @param {Holder | undefined} holder */
function isStale(path, holder) {
  const touched = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  if (touched === undefined) return false;
  const silence = Date.now() - touched;
  if (holder === undefined || holder.host !== hostname()) return silence > SILENT_MS;
  return !isAlive(holder.pid) || silence > SILENT_THOUGH_ALIVE_MS;
}

/**
 * Removes a stale lock. Only one process does so at a time, and only if the lock is still the judged one: otherwise two waiters could each
 * remove a lock, the second one a live one.
 *
 * @param {string} path
 * @param {Holder | undefined} judged
 */
function takeOver(path, judged) {
  const guard = `${path}.takeover`;
  const guardAge = Date.now() - (statSync(guard, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
  if (guardAge > SILENT_MS) rmSync(guard, { force: true });
  if (!create(guard, { id: randomUUID(), pid: process.pid, host: hostname() })) return;
  try {
    if (read(path)?.id === judged?.id) rmSync(path, { force: true });
  } finally {
    rmSync(guard, { force: true });
  }
}

/** @param {number} pid */
function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
