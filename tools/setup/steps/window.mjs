import { bundle, sourcesHash } from '../bundle.mjs';
import { clearStamp, isStampFresh, writeStamp } from '../stamps.mjs';

/**
 * Bundles the window into out/renderer, in a few seconds. Never downloads Electron itself: if its binary is missing, Kvasir shows the
 * window in a browser.
 */
export const window = /** @type {import('../setup.mjs').Step} */ ({
  name: 'window',

  isFresh() {
    return isStampFresh('window', key());
  },

  async run(_tools, update) {
    const before = key();
    clearStamp('window');
    update('bundling');
    const summary = await bundle('window');
    // If a file is saved during the build, the next setup builds again.
    writeStamp('window', before, ['out/renderer/index.html']);
    return summary;
  },
});

function key() {
  return sourcesHash('window 2', ['src-shared', 'src-renderer']);
}
