import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Built from native/tools/faults/drive.cc. */
const LAYER = join(import.meta.dirname, '..', '..', 'build', 'native', 'kvasir-drive.so');

/** Whether this machine has the layer. */
export function hasDriveLayer(): boolean {
  return existsSync(LAYER);
}

/** The environment of a process for which the files below `folder` are on a drive that refuses something with an errno. */
export function onDrive(
  folder: string,
  refuses: 'locks' | 'mappings',
  errno: number,
): Record<string, string> {
  return {
    LD_PRELOAD: LAYER,
    KVASIR_DRIVE_UNDER: folder,
    KVASIR_DRIVE_REFUSES: refuses,
    KVASIR_DRIVE_ERROR: String(errno),
  };
}

/** The same for a drive that opens no file while the file `flag` exists. */
export function onHangingDrive(folder: string, flag: string): Record<string, string> {
  return { LD_PRELOAD: LAYER, KVASIR_DRIVE_UNDER: folder, KVASIR_DRIVE_HANGS: flag };
}
