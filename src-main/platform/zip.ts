import { openPromise, type Entry, type ZipFile } from 'yauzl';

/** What to throw of a file that cannot be used, and why. */
type Refuse = (why: string, cause?: unknown) => Error;

/** A ZIP file with its entries by name; close it. Rejects with what `refuse` makes of a file that is none. */
export async function openZip(
  path: string,
  refuse: Refuse,
): Promise<{ zip: ZipFile; entries: Map<string, Entry> }> {
  const zip = await openPromise(path, {
    lazyEntries: true,
    autoClose: false,
    validateEntrySizes: true,
  }).catch((error: unknown) => {
    throw refuse('it is not there, or not a ZIP file', error);
  });
  try {
    const entries = new Map<string, Entry>();
    for await (const entry of zip.eachEntry()) entries.set(entry.fileName, entry);
    return { zip, entries };
  } catch (error) {
    zip.close();
    throw refuse('its table of contents is damaged', error);
  }
}

/** An entry that is JSON. Rejects with what reading, unpacking or parsing it throws. */
export async function readJson(zip: ZipFile, entry: Entry): Promise<unknown> {
  const parts: Buffer[] = [];
  for await (const part of await zip.openReadStreamPromise(entry)) parts.push(part as Buffer);
  return JSON.parse(Buffer.concat(parts).toString('utf8'));
}
