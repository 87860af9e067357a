import { cpSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { HEADERS } from '../pins.mjs';
import { GGML, ROOT } from '../platform.mjs';
import { withSource } from '../source.mjs';
import { clearStamp, hash, isStampFresh, writeStamp } from '../stamps.mjs';

const INCLUDE = join(GGML, 'include');
/** Header for implementing devices: our tests define one. */
const DEVICE_HEADER = 'ggml/src/ggml-backend-impl.h';
const KEY = hash('headers 2', HEADERS.name, HEADERS.version, HEADERS.integrity);

/** Public headers of ggml and libllama, from the commit of the prebuilt libraries. */
export const headers = /** @type {import('../setup.mjs').Step} */ ({
  name: 'headers',

  isFresh() {
    return isStampFresh('headers', KEY);
  },

  async run(_tools, update) {
    clearStamp('headers');
    await withSource(['ggml/include', DEVICE_HEADER, 'include', 'LICENSE'], update, (source) => {
      const assembled = join(source, 'assembled');
      cpSync(join(source, 'ggml', 'include'), assembled, { recursive: true });
      cpSync(join(source, DEVICE_HEADER), join(assembled, basename(DEVICE_HEADER)));
      cpSync(join(source, 'include', 'llama.h'), join(assembled, 'llama.h'));
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
