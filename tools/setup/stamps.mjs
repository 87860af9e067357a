import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { ROOT, STATE } from './platform.mjs';

/**
 * A stamp records that a step completed with these inputs (key) and wrote these files (path → bytes). It is removed before a step starts
 * and written, by rename, after it ends, so an interrupted step never looks finished.
 *
 * @typedef {{ key: string, outputs: Record<string, number> }} Stamp
 */

/** @param {string} step @returns {Stamp | undefined} */
function readStamp(step) {
  try {
    const value = JSON.parse(readFileSync(stampPath(step), 'utf8'));
    return typeof value.key === 'string' && typeof value.outputs === 'object' ? value : undefined;
  } catch {
    return undefined;
  }
}

/** @param {string} step @param {string} key */
export function isStampFresh(step, key) {
  const stamp = readStamp(step);
  return stamp !== undefined && stamp.key === key && Object.entries(stamp.outputs).every(isUnchanged);
}

/** @param {string} step */
export function clearStamp(step) {
  rmSync(stampPath(step), { force: true });
}

/**
 * @param {string} step
 * @param {string} key
 * @param {string[]} outputs paths relative to the project's root
 */
export function writeStamp(step, key, outputs) {
  mkdirSync(STATE, { recursive: true });
  /** @type {Stamp} */
  const stamp = {
    key,
    outputs: Object.fromEntries(outputs.map((path) => [path, statSync(join(ROOT, path)).size])),
  };
  const temporary = `${stampPath(step)}.tmp`;
  writeFileSync(temporary, JSON.stringify(stamp, null, 2));
  renameSync(temporary, stampPath(step));
}

/** @param {string} step @returns {string[]} */
export function stampedOutputs(step) {
  return Object.keys(readStamp(step)?.outputs ?? {});
}

/** @param {...string} inputs */
export function hash(...inputs) {
  const sum = createHash('sha256');
  for (const input of inputs) sum.update(`${input.length}:`).update(input);
  return sum.digest('hex');
}

/**
 * Every file below a folder; empty if the folder does not exist.
 *
 * @param {string} folder
 * @returns {string[]}
 */
export function filesUnder(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesUnder(path) : [path];
  });
}

/** @param {[string, number]} output */
function isUnchanged([path, bytes]) {
  return statSync(join(ROOT, path), { throwIfNoEntry: false })?.size === bytes;
}

/** @param {string} step */
function stampPath(step) {
  return join(STATE, `${step}.json`);
}
