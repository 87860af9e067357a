import { randomBytes } from 'node:crypto';
import { pdf } from '../../test-documents/documents.ts';
import { settled } from '../baseline.ts';
import { RunningApp } from '../running-app.ts';
import type { Fault, Place } from '../fault.ts';

const PAGES = 6;
const EACH = 4;

/** Damaged PDFs among intact ones, which the same process parses next. */
export const damagedDocuments: Fault = {
  name: 'damaged documents',
  covers: 'truncated, zeroed and scrambled PDFs: the intact ones among them are read',
  async run({ data, random }) {
    const app = await RunningApp.start(data);
    const { id } = await app.call('libraries.create', { name: 'Mixed' });
    for (let i = 0; i < EACH; i++) {
      const lines = Array.from({ length: PAGES }, (_, page) => [`Intact ${i}, page ${page}.`]);
      const intact = await pdf(lines);
      await app.upload(id, `${i}-damaged.pdf`, damaged(intact, random));
      await app.upload(id, `${i}-intact.pdf`, Uint8Array.from(intact));
    }
    await settled(app);
    const { items } = await app.call('documents.list', { libraryId: id });
    for (let i = 0; i < EACH; i++) {
      const document = items.find(({ path }) => path === `${i}-intact.pdf`);
      if (document?.phase !== 'ready')
        throw new Error(`${i} is ${document?.phase ?? 'lost'}: ${document?.failure?.message ?? ''}`);
      const { text } = await app.call('documents.text', { id: document.id });
      if (!text.includes(`Intact ${i}, page ${PAGES - 1}.`))
        throw new Error(`${i} has a wrong text: ${text}`);
    }
    await app.call('libraries.delete', { id });
  },
};

function damaged(intact: Buffer, random: Place['random']): Uint8Array<ArrayBuffer> {
  const bytes = Uint8Array.from(intact);
  const start = random(bytes.length);
  const end = start + 1 + random(bytes.length - start);
  const how = random(3);
  if (how === 0) return bytes.slice(0, start);
  return how === 1 ? bytes.fill(0, start, end) : (bytes.set(randomBytes(end - start), start), bytes);
}
