import { existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { z } from 'zod';
import type { PackName } from '../../../src-shared/contract/devices.ts';

const FILE_NAME = z.string().regex(/^\w[\w.-]*$/);

const PinSchema = z.object({
  name: z.string().regex(/^@[\w-]+\/[\w-]+$/),
  megabytes: z.number().positive(),
  integrity: z.string().regex(/^sha512-[A-Za-z0-9+/]{86}==$/),
  library: FILE_NAME,
  driver: z.array(z.string()),
  runtime: z.array(z.string()),
});

const PlatformsSchema = z.record(z.string(), PinSchema);

const FileSchema = z.object({
  release: FILE_NAME,
  libraryFolders: z.record(z.string(), z.array(z.string())),
  packs: z.object({ vulkan: PlatformsSchema, cuda: PlatformsSchema }),
});

/** A pack that is available for this machine. */
export interface PackPin {
  pack: PackName;
  title: string;
  /** npm package. */
  name: string;
  /** Approximate size of the package. */
  bytes: number;
  /** SHA-512 of the package, hexadecimal. */
  sum: string;
  /** The pack's file, and its path in the package. */
  library: string;
  member: string;
  /**
   * `driver`: libraries, any of which shows that the driver is installed; then libraries that are required in addition.
   */
  driver: string[];
  needs: string[];
}

export interface PackPins {
  /** Version of the packages. Packs of different versions use different versions of ggml and cannot be mixed. */
  release: string;
  pins: PackPin[];
  /** Where the system's loader searches for libraries, in addition to the configured paths. */
  libraryFolders: string[];
}

const TITLES: Record<PackName, string> = { vulkan: 'Vulkan', cuda: 'CUDA' };

/** From resources/gpu-packs.json, which setup also reads. */
export function readPins(path: string, system = process.platform, arch = process.arch): PackPins {
  const file = FileSchema.parse(JSON.parse(readFileSync(path, 'utf8')));
  const pins = (['vulkan', 'cuda'] as const).flatMap((pack) => {
    const pin = file.packs[pack][`${system}-${arch}`];
    if (!pin) return [];
    const { name, library, driver, runtime: needs } = pin;
    const sum = Buffer.from(pin.integrity.slice('sha512-'.length), 'base64').toString('hex');
    const member = `package/bins/${name.split('/')[1] ?? ''}/${library}`;
    const bytes = pin.megabytes * 1e6;
    return [{ pack, title: TITLES[pack], name, bytes, sum, library, member, driver, needs }];
  });
  return { release: file.release, pins, libraryFolders: file.libraryFolders[system] ?? [] };
}

/** Whether the driver that a pack needs is on the loader's search path. */
export function hasDriver({ driver }: PackPin, { libraryFolders }: PackPins): boolean {
  const told = process.env[process.platform === 'win32' ? 'PATH' : 'LD_LIBRARY_PATH'] ?? '';
  const folders = [...told.split(delimiter).filter((folder) => folder !== ''), ...libraryFolders];
  return folders.some((folder) => driver.some((library) => existsSync(join(folder, library))));
}
