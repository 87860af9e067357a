import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { FailureSchema } from '../../src-shared/contract/common.ts';
import { replaceFile } from '../platform/replace-file.ts';

const TriedDeviceSchema = z.object({
  name: z.string(),
  description: z.string(),
  /** Why the device is not used; null: it may be used. */
  failure: FailureSchema.nullable(),
  /** Prompt throughput on the device and on the CPU; null if not measured. */
  tokensPerSecond: z.number().nonnegative().nullable(),
  cpuTokensPerSecond: z.number().nonnegative().nullable(),
});

const TriedSourceSchema = z.object({
  source: z.string(),
  key: z.string(),
  /** Why the source has no devices. */
  failure: FailureSchema.nullable(),
  devices: z.array(TriedDeviceSchema),
});

/** Work in progress that could end the program; device null: loading or testing the pack itself. */
const RiskSchema = z.object({
  source: z.string(),
  device: z.string().nullable(),
  model: z.string().nullable(),
});

const FileSchema = z.object({
  version: z.literal(1),
  sources: z.array(TriedSourceSchema),
  risks: z.array(RiskSchema),
});

export type TriedDevice = z.infer<typeof TriedDeviceSchema>;
export type TriedSource = z.infer<typeof TriedSourceSchema>;
export type Risk = z.infer<typeof RiskSchema>;

/** Test results of each device, in one file of the data folder (docs/formats/devices.md). */
export class DevicesFile {
  readonly #path: string;
  readonly #onFailed: (error: unknown) => void;
  #content: z.infer<typeof FileSchema>;

  /**
   * An unreadable file only means testing again: it holds nothing else. A write failure is reported, and the results
   * apply to this run only.
   */
  constructor(path: string, onFailed: (error: unknown) => void) {
    this.#path = path;
    this.#onFailed = onFailed;
    this.#content = read(path);
  }

  find(source: string, key: string): TriedSource | undefined {
    return this.#content.sources.find((each) => each.source === source && each.key === key);
  }

  save(tried: TriedSource): void {
    const others = this.#content.sources.filter(({ source }) => source !== tried.source);
    this.#write({ sources: [...others, tried] });
  }

  /** Records that the program may crash here, for as long as the work takes. */
  async risking<T>(risk: Risk, work: () => Promise<T> | T): Promise<T> {
    const end = this.#begin(risk);
    try {
      return await work();
    } finally {
      end();
    }
  }

  /** The same for synchronous work. */
  riskingNow(risk: Risk, work: () => void): void {
    const end = this.#begin(risk);
    try {
      work();
    } finally {
      end();
    }
  }

  /**
   * Returns and clears the work that was in progress when the program last ended. A crash in this process counts for
   * more than a test elsewhere.
   */
  takeRisks(): Risk[] {
    const { risks } = this.#content;
    if (risks.length > 0) this.#write({ risks: [] });
    const here = risks.filter(({ device }) => device !== null);
    return here.length > 0 ? here : risks;
  }

  #begin(risk: Risk): () => void {
    this.#write({ risks: [...this.#content.risks, risk] });
    return () => this.#write({ risks: this.#content.risks.filter((each) => each !== risk) });
  }

  #write(changes: Partial<z.infer<typeof FileSchema>>): void {
    this.#content = { ...this.#content, ...changes };
    try {
      replaceFile(this.#path, `${JSON.stringify(this.#content, null, 1)}\n`);
    } catch (error) {
      this.#onFailed(error);
    }
  }
}

function read(path: string): z.infer<typeof FileSchema> {
  try {
    return FileSchema.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    return { version: 1, sources: [], risks: [] };
  }
}
