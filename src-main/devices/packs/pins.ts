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

/** A pack that there is for this machine. */
export interface PackPin {
  pack: PackName;
  title: string;
  /** npm package. */
  name: string;
  /** About so many of the package. */
  bytes: number;
  /** SHA-512 of the package, hexadecimal. */
  sum: string;
  /** The pack's file, and where it is in the package. */
  library: string;
  member: string;
  /** Libraries, any of which tells that the driver is there; and those that are needed beside it. */
  driver: string[];
  needs: string[];
}

export interface PackPins {
  /** Version of the packages. Libraries of another one are of another ggml, so their packs do not go together. */
  release: string;
  pins: PackPin[];
  /** Where the system's loader looks for libraries, beside where it is told to. */
  libraryFolders: string[];
}

const TITLES: Record<PackName, string> = { vulkan: 'Vulkan', cuda: 'CUDA' };

/** From resources/gpu-packs.json, which setup reads as well. */
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

/** Whether the driver that a pack needs is where the loader looks. */
export function hasDriver({ driver }: PackPin, { libraryFolders }: PackPins): boolean {
  const told = process.env[process.platform === 'win32' ? 'PATH' : 'LD_LIBRARY_PATH'] ?? '';
  const folders = [...told.split(delimiter).filter((folder) => folder !== ''), ...libraryFolders];
  return folders.some((folder) => driver.some((library) => existsSync(join(folder, library))));
}
