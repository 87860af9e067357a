/** A reading that is smaller says more of latency than of throughput. */
const LARGE_BYTES = 256 * 1024;
/** How much a new measurement counts. */
const SHARE = 0.2;

/** What a shared cache has done, and how fast. */
export class Figures {
  written = 0;
  bytesWritten = 0;
  /** Values that were read from. */
  read = 0;
  bytesRead = 0;
  corrupt = 0;
  /** Milliseconds of asking what is there; undefined until somebody asked. */
  latencyMs: number | undefined;
  /** Of large readings, each by itself. */
  bytesPerSecond: number | undefined;

  asked(ms: number): void {
    this.latencyMs = mean(this.latencyMs, ms);
  }

  gotBytes(bytes: number, ms: number): void {
    this.bytesRead += bytes;
    if (bytes >= LARGE_BYTES && ms > 0) this.bytesPerSecond = mean(this.bytesPerSecond, (bytes / ms) * 1000);
  }

  wrote(bytes: number): void {
    this.written++;
    this.bytesWritten += bytes;
  }
}

function mean(before: number | undefined, now: number): number {
  return before === undefined ? now : before + SHARE * (now - before);
}
