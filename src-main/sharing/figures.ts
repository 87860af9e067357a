/** A smaller read measures latency rather than throughput. */
const LARGE_BYTES = 256 * 1024;
/** Weight of a new measurement. */
const SHARE = 0.2;

/** Statistics of a shared cache. */
export class Figures {
  written = 0;
  bytesWritten = 0;
  /** Values read. */
  read = 0;
  bytesRead = 0;
  corrupt = 0;
  /** Latency of lookups in milliseconds; undefined until measured. */
  latencyMs: number | undefined;
  /** Throughput of large reads, each measured separately. */
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
