import { accessSync, constants, existsSync, mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { KvasirError } from '../../src-shared/errors.ts';
import { nativeRoot } from './root.ts';

/** Paths of the program and its data. Everything Kvasir writes is under `data`. */
export interface Paths {
  data: string;
  settings: string;
  log: string;
  /** The chunk store's folder. */
  store: string;
  catalogue: string;
  conversations: string;
  analyses: string;
  /** Comparisons of answers with their full prefill. */
  watching: string;
  /** Compute and load speed of this machine. */
  costs: string;
  calibrations: string;
  /** Which GPUs work, and their speed. */
  devices: string;
  /** Folder of downloaded GPU packs, and the list of available ones. */
  packs: string;
  packPins: string;
  demoModel: string;
  sampleLibrary: string;
  sampleQuestions: string;
  sampleSuggestions: string;
  /** Suggested first models, by the machine's memory. */
  startingPoints: string;
  hubToken: string;
  /** Password and keys of the shared cache. */
  sharingSecrets: string;
  /** Keys for model servers. */
  serverKeys: string;
  /** MCP servers whose tools conversations can use. */
  mcpServers: string;
  /** Which of their tools run without asking. */
  mcpPermissions: string;
  /** Sign-ins to them. */
  mcpSignIns: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The platform's conventional folder for user data, unless KVASIR_DATA names another. */
export function defaultDataDir(
  env: Environment = process.env,
  platform: NodeJS.Platform = process.platform,
): string {
  if (env['KVASIR_DATA']) return resolve(env['KVASIR_DATA']);
  const home = env['HOME'] ?? homedir();
  if (platform === 'win32') return join(env['LOCALAPPDATA'] ?? join(home, 'AppData', 'Local'), 'Kvasir');
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', 'Kvasir');
  const xdg = env['XDG_DATA_HOME'];
  // The XDG specification says to ignore relative paths.
  return join(xdg?.startsWith('/') ? xdg : join(home, '.local', 'share'), 'kvasir');
}

export function resolvePaths(dataDir: string = defaultDataDir()): Paths {
  const data = resolve(dataDir);
  const resources = join(nativeRoot(), 'resources');
  return {
    data,
    settings: join(data, 'settings.json'),
    log: join(data, 'kvasir.log'),
    store: join(data, 'cache'),
    catalogue: join(data, 'catalogue.sqlite'),
    conversations: join(data, 'conversations.sqlite'),
    analyses: join(data, 'analyses.sqlite'),
    watching: join(data, 'watching.sqlite'),
    costs: join(data, 'costs.json'),
    calibrations: join(data, 'calibrations.json'),
    devices: join(data, 'devices.json'),
    packs: join(data, 'packs'),
    // Tests use other packs.
    packPins: process.env['KVASIR_PACKS'] ?? join(resources, 'gpu-packs.json'),
    demoModel: join(resources, 'models', 'kvasir-demo.gguf'),
    sampleLibrary: join(resources, 'sample-library'),
    sampleQuestions: join(resources, 'sample-library.questions.json'),
    sampleSuggestions: join(resources, 'sample-library.suggestions.json'),
    startingPoints: join(resources, 'starting-points.json'),
    hubToken: join(data, 'hub-token.json'),
    sharingSecrets: join(data, 'sharing-secrets.json'),
    serverKeys: join(data, 'server-keys.json'),
    mcpServers: join(data, 'mcp.json'),
    mcpPermissions: join(data, 'mcp-permissions.json'),
    mcpSignIns: join(data, 'mcp-sign-ins.json'),
  };
}

/** Ensures that `dir` exists and is writable. STORE_READ_ONLY, DISK_FULL. */
export function ensureWritableDir(dir: string): void {
  try {
    makeDir(resolve(dir));
    accessSync(dir, constants.W_OK);
  } catch (error) {
    throw fileError(error, `Kvasir cannot write to its data folder ${dir}`);
  }
}

/** Creates parents first. Node's recursive mkdir never returns if a parent accepts no entries, as in /proc. */
function makeDir(dir: string): void {
  if (existsSync(dir)) return;
  if (dirname(dir) !== dir) makeDir(dirname(dir));
  try {
    mkdirSync(dir);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error; // another process was faster
  }
}

/** Free space at a path, as text; empty if unknown. */
function freeWords(path: string | undefined): string {
  if (path === undefined) return '';
  try {
    const { bavail, bsize } = statfsSync(dirname(path));
    return ` (${((bavail * bsize) / 1e6).toFixed(1)} MB are free)`;
  } catch {
    return '';
  }
}

const PROBE_BYTES = 64 * 1024;

/**
 * Whether the disk of a folder refuses more bytes: SQLite has one error for a full disk and a failing one where the
 * file that connections share cannot grow.
 */
export function isFull(dir: string): boolean {
  const probe = join(dir, `room-${process.pid}.tmp`);
  let failure: unknown;
  try {
    writeFileSync(probe, Buffer.alloc(PROBE_BYTES));
  } catch (error) {
    failure = error;
  }
  try {
    rmSync(probe, { force: true });
  } catch {
    // The next start removes it.
  }
  return isNoSpace((failure as NodeJS.ErrnoException | undefined)?.code);
}

function isNoSpace(code: string | undefined): boolean {
  return code === 'ENOSPC' || code === 'EDQUOT';
}

/** Converts an operating-system error to a typed error for users. */
export function fileError(error: unknown, what: string): KvasirError {
  const code = (error as NodeJS.ErrnoException | undefined)?.code ?? 'unknown error';
  if (isNoSpace(code)) {
    return new KvasirError(
      'DISK_FULL',
      `${what} because the disk is full${freeWords((error as NodeJS.ErrnoException).path)}.`,
      'Free some space: empty the cache (its screen, or `cache evict --all`), or delete other files.',
      {
        cause: error,
      },
    );
  }
  return new KvasirError(
    'STORE_READ_ONLY',
    `${what} (${code}).`,
    'Choose a folder you can write to with --data.',
    { cause: error },
  );
}
