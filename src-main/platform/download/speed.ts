const WINDOW_MS = 5000;

/** Bytes a second over the last few seconds. */
export class Speed {
  #samples: { at: number; bytes: number }[] = [];

  add(bytes: number, now = performance.now()): void {
    const last = this.#samples.at(-1);
    // One sample every tenth of a second is enough.
    if (last && now - last.at < 100) last.bytes += bytes;
    else this.#samples.push({ at: now, bytes });
    while (this.#samples[0] && now - this.#samples[0].at > WINDOW_MS) this.#samples.shift();
  }

  /** 0 until there are samples. */
  perSecond(now = performance.now()): number {
    const recent = this.#samples.filter(({ at }) => now - at <= WINDOW_MS);
    const first = recent[0];
    if (!first || now - first.at < 200) return 0;
    return (recent.reduce((sum, { bytes }) => sum + bytes, 0) / (now - first.at)) * 1000;
  }
}
