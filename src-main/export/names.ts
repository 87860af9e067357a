/** Bytes of a file name at most; file systems allow 255, and text gets ".txt" appended. */
const MOST_BYTES = 240;
/** Names that Windows reserves for devices, whatever their extension. */
const DEVICE = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i;

/** Turns paths into names for an export: valid on every system, each given once. */
export class ExportNames {
  readonly #given = new Set<string>();

  /** `path` below `folder`, numbered if another entry has that name. */
  free(folder: string, path: string): string {
    const segments = path.split('/').filter((segment) => segment !== '');
    const name = [folder, ...segments.map(validSegment)].filter((segment) => segment !== '').join('/');
    for (let n = 1; ; n++) {
      const numbered = n === 1 ? name : name.replace(/(\.[^./]*)?$/, ` (${n})$1`);
      const key = numbered.normalize('NFC').toLowerCase();
      if (this.#given.has(key)) continue;
      this.#given.add(key);
      return numbered;
    }
  }
}

/** A path's segment as a name that Linux, macOS and Windows accept. */
function validSegment(segment: string): string {
  const plain = segment
    .toWellFormed()
    .replace(/[\p{Cc}<>:"\\|?*]/gu, '_')
    .replace(/[. ]+$/, (end) => '_'.repeat(end.length));
  return shortened(DEVICE.test(plain) ? `_${plain}` : plain);
}

/** Cut at whole characters, with its extension. */
function shortened(name: string): string {
  if (Buffer.byteLength(name) <= MOST_BYTES) return name;
  const extension = /\.[^.]{1,16}$/.exec(name)?.[0] ?? '';
  const room = MOST_BYTES - Buffer.byteLength(extension);
  let stem = '';
  let bytes = 0;
  for (const character of name.slice(0, name.length - extension.length)) {
    bytes += Buffer.byteLength(character);
    if (bytes > room) break;
    stem += character;
  }
  return stem + extension;
}
