import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { encryptedPdf, epub, pdf, slides, word, workbook } from '../../../tools/test-documents/documents.ts';

/** Documents from Debian packages: not made for tests, and not installed on every machine. */
const REAL_WORLD = [
  '/usr/share/doc/shared-mime-info/shared-mime-info-spec.pdf',
  '/usr/share/doc/base-passwd/users-and-groups.html',
  '/usr/share/doc/shared-mime-info/README.md',
];

export interface MixedFolder {
  /** Readable files, below the folder. */
  good: string[];
  /** Unreadable files, with the expected reasons. */
  bad: Record<string, RegExp>;
  /** Third-party files that are missing on this machine. */
  absent: string[];
}

/** Real files of every format, made by common programs, two folders deep. */
export async function writeMixedFolder(dir: string): Promise<MixedFolder> {
  const made: Record<string, Buffer | string> = {
    'vortex.pdf': await pdf([
      ['A page before.'],
      ['Project Vortex is a project of Halvard.', 'Its servers run in Riga.'],
    ]),
    'handbook.docx': await word(),
    'deck.pptx': await slides(),
    'ships.xlsx': await workbook(),
    'keeper.epub': epub([{ file: 'one.xhtml', html: page('The keeper trims the lamp at dusk.') }]),
    'page.html': page('The ferry leaves at noon.'),
    'notes/harbour.md': '# Harbour\n\nThe crane lifts ninety tons.\n',
    'notes/plain.txt': 'The tide table hangs beside the door.\n',
    'notes/tariffs.csv': 'berth,crowns\nnorth,40\nsouth,25\n',
    'notes/settings.json': '{ "pilot": { "name": "Mara", "since": 2011 } }\n',
    'notes/deep/berth.py':
      'def berth(length):\n    """Metres of quay that a ship needs."""\n    return length * 1.2\n',
  };
  const broken = {
    'broken.pdf': Buffer.from('%PDF-1.7\nnothing of what should follow\n'),
    'locked.pdf': encryptedPdf(),
  };
  for (const [name, bytes] of Object.entries({ ...made, ...broken })) {
    mkdirSync(join(dir, name, '..'), { recursive: true });
    writeFileSync(join(dir, name), bytes);
  }
  const present = REAL_WORLD.filter((path) => existsSync(path));
  for (const path of present) copyFileSync(path, join(dir, basename(path)));
  return {
    good: [...Object.keys(made), ...present.map((path) => basename(path))],
    bad: { 'broken.pdf': /damaged or not a PDF/, 'locked.pdf': /protected by a password/ },
    absent: REAL_WORLD.filter((path) => !present.includes(path)),
  };
}

function page(sentence: string): string {
  return `<html xmlns="http://www.w3.org/1999/xhtml"><head><title>A page</title></head><body><p>${sentence}</p></body></html>`;
}

/** Enough text for some seconds of work, with no two chunks alike. */
export function writeLogbooks(dir: string, count: number): void {
  mkdirSync(dir, { recursive: true });
  for (let ship = 0; ship < count; ship++) {
    const entries = Array.from(
      { length: 60 },
      (_, day) =>
        `On day ${day} ship ${ship} lay ${ship * 61 + day} miles off the coast, wind force ${day % 9}.`,
    );
    writeFileSync(join(dir, `ship-${ship}.md`), `# Log of ship ${ship}\n\n${entries.join('\n\n')}\n`);
  }
}
