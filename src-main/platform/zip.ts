import { openPromise, type Entry, type ZipFile } from 'yauzl';

/** Creates the error for an unusable file, from the reason. */
type ErrorFactory = (why: string, cause?: unknown) => Error;

/** A ZIP file with its entries by name; the caller closes it. Rejects with `refuse`'s error if it is not a ZIP file. */
export async function openZip(
  path: string,
  refuse: ErrorFactory,
): Promise<{ zip: ZipFile; entries: Map<string, Entry> }> {
  const zip = await openPromise(path, {
    lazyEntries: true,
    autoClose: false,
    validateEntrySizes: true,
  }).catch((error: unknown) => {
    throw refuse('it does not exist or is not a ZIP file', error);
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

/** Parses an entry as JSON. Rejects with errors of reading, unpacking or parsing. */
export async function readJson(zip: ZipFile, entry: Entry): Promise<unknown> {
  const parts: Buffer[] = [];
  for await (const part of await zip.openReadStreamPromise(entry)) parts.push(part as Buffer);
  return JSON.parse(Buffer.concat(parts).toString('utf8'));
}
