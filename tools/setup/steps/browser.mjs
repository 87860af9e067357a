import { createReadStream, createWriteStream, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress } from 'node:zlib';
import { findBrowser, NO_BROWSER, PINNED, PLAYWRIGHT } from '../browser.mjs';
import { withPackage } from '../download.mjs';
import { SetupError } from '../errors.mjs';
import { BROWSER } from '../pins.mjs';
import { NODE_MODULES, nodePath, platformName, ROOT } from '../platform.mjs';
import { mustRun, run } from '../process.mjs';
import { clearStamp, hash, isStampFresh, writeStamp } from '../stamps.mjs';

const PIN = BROWSER[platformName];

/**
 * Puts a browser for the UI tests into the project's folder. If none is available, setup continues, and those tests are skipped with a
 * message.
 */
export const browser = /** @type {import('../setup.mjs').Step} */ ({
  name: 'browser',

  isFresh() {
    if (process.env.KVASIR_CHROMIUM) return true;
    return PIN === undefined ? findBrowser() !== undefined : isStampFresh('browser', key(PIN));
  },

  async run(_tools, update) {
    try {
      return await (PIN === undefined ? downloadByPlaywright(update) : unpackPinned(PIN, update));
    } catch (error) {
      if (!(error instanceof SetupError)) throw error;
      const other = findBrowser();
      return other === undefined ? NO_BROWSER : `${error.message} The tests use ${other.path} instead.`;
    }
  },
});

/** @param {import('../pins.mjs').Pin} pin */
function key(pin) {
  return hash('browser 1', PINNED, pin.name, pin.version, pin.integrity);
}

/** @param {import('../pins.mjs').Pin} pin @param {(note: string) => void} update */
async function unpackPinned(pin, update) {
  clearStamp('browser');
  rmSync(PINNED, { recursive: true, force: true });
  update(`downloading ${pin.name} ${pin.version}, ${pin.megabytes} MB`);
  await withPackage(pin, ['package/bin'], async (folder) => {
    update('unpacking');
    const from = (/** @type {string} */ name) => join(folder, 'package', 'bin', name);
    mkdirSync(PINNED, { recursive: true });
    await decompress(from('chromium.br'), join(PINNED, 'chromium'));
    // Its 3D libraries, the libraries that most systems already have, and a font.
    for (const { archive, target } of [
      { archive: 'swiftshader.tar.br', target: PINNED },
      { archive: 'al2023.tar.br', target: PINNED },
      { archive: 'fonts.tar.br', target: join(PINNED, 'fonts') },
    ]) {
      const tar = `${from(archive)}.tar`;
      await decompress(from(archive), tar);
      mkdirSync(target, { recursive: true });
      await mustRun(`${archive} could not be unpacked.`, 'tar', [
        '-xf',
        tar,
        '--no-same-owner',
        '-C',
        target,
      ]);
    }
  });
  // The package's own file names folders of the system it was built for.
  const fonts = join(PINNED, 'fonts');
  writeFileSync(
    join(fonts, 'fonts.conf'),
    `<?xml version="1.0"?>\n<fontconfig>\n  <dir>${fonts}</dir>\n  <cachedir>${join(fonts, 'cache')}</cachedir>\n</fontconfig>\n`,
  );
  const files = ['chromium', 'lib/libnss3.so', 'fonts/fonts.conf'].map((name) =>
    relative(ROOT, join(PINNED, name)),
  );
  writeStamp('browser', key(pin), files);
  return `Chromium ${pin.version}, for the UI tests`;
}

/** @param {string} from @param {string} to */
async function decompress(from, to) {
  await pipeline(createReadStream(from), createBrotliDecompress(), createWriteStream(to, { mode: 0o755 }));
}

/** @param {(note: string) => void} update */
async function downloadByPlaywright(update) {
  update("downloading Playwright's Chromium");
  const { code } = await run(
    nodePath(),
    [join(NODE_MODULES, 'playwright-core', 'cli.js'), 'install', '--only-shell', 'chromium'],
    { env: { PLAYWRIGHT_BROWSERS_PATH: PLAYWRIGHT } },
  );
  if (code !== 0 || findBrowser() === undefined)
    throw new SetupError("Playwright's Chromium could not be downloaded.");
  return "Playwright's Chromium, for the UI tests";
}
