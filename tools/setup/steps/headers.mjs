import { cpSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { withPackage } from '../download.mjs';
import { HEADERS } from '../pins.mjs';
import { GGML, ROOT } from '../platform.mjs';
import { mustRun } from '../process.mjs';
import { clearStamp, hash, isStampFresh, writeStamp } from '../stamps.mjs';

const BUNDLE = 'package/llama/gitRelease.bundle';
const INCLUDE = join(GGML, 'include');
const KEY = hash('headers 2', HEADERS.name, HEADERS.version, HEADERS.integrity);

/** What devices are made of: our tests make one. */
const DEVICE_HEADER = 'ggml/src/ggml-backend-impl.h';

/** ggml's and libllama's public headers, of the very commit the prebuilt libraries were made from. */
export const headers = /** @type {import('../setup.mjs').Step} */ ({
  name: 'headers',

  isFresh() {
    return isStampFresh('headers', KEY);
  },

  async run(_tools, update) {
    clearStamp('headers');
    update(`downloading ${HEADERS.name} ${HEADERS.version}, ${HEADERS.megabytes} MB`);
    await withPackage(HEADERS, [BUNDLE], async (folder) => {
      update('unpacking');
      const failure = "git could not read llama.cpp's source bundle.";
      const source = join(folder, 'source');
      await mustRun(failure, 'git', ['clone', '-q', '--no-checkout', join(folder, BUNDLE), source]);
      const wanted = ['ggml/include', DEVICE_HEADER, 'include', 'LICENSE'];
      await mustRun(failure, 'git', ['checkout', '-q', 'HEAD', '--', ...wanted], { cwd: source });
      const assembled = join(folder, 'include');
      cpSync(join(source, 'ggml', 'include'), assembled, { recursive: true });
      cpSync(join(source, 'include', 'llama.h'), join(assembled, 'llama.h'));
      cpSync(join(source, DEVICE_HEADER), join(assembled, basename(DEVICE_HEADER)));
      cpSync(join(source, 'LICENSE'), join(assembled, 'LICENSE'));
      mkdirSync(GGML, { recursive: true });
      if (existsSync(INCLUDE)) rmSync(INCLUDE, { recursive: true });
      renameSync(assembled, INCLUDE);
    });
    const files = readdirSync(INCLUDE).map((name) => relative(ROOT, join(INCLUDE, name)));
    writeStamp('headers', KEY, files);
    return `${files.length - 1} headers of ggml and libllama`;
  },
});
