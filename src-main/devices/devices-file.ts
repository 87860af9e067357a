import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { FailureSchema } from '../../src-shared/contract/common.ts';
import { replaceFile } from '../platform/replace-file.ts';

const TriedDeviceSchema = z.object({
  name: z.string(),
  description: z.string(),
  /** Why it is not used; null: it may be. */
  failure: FailureSchema.nullable(),
  /** Of a prompt, there and on the processor; null where it was not measured. */
  tokensPerSecond: z.number().nonnegative().nullable(),
  cpuTokensPerSecond: z.number().nonnegative().nullable(),
});

const TriedSourceSchema = z.object({
  source: z.string(),
  key: z.string(),
  /** Why it has no devices. */
  failure: FailureSchema.nullable(),
  devices: z.array(TriedDeviceSchema),
});

/** What could end the program and is being done now; device null: the pack itself is loaded or tried. */
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

/** What was tried on which device, in one file of the data folder (docs/formats/devices.md). */
export class DevicesFile {
  readonly #path: string;
  readonly #onFailed: (error: unknown) => void;
  #content: z.infer<typeof FileSchema>;

  /** One that cannot be read means trying anew: it holds nothing else. What cannot be written is told, and holds for this run. */
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

  /** Notes that the program may end here, for as long as the work takes. */
  async risking<T>(risk: Risk, work: () => Promise<T> | T): Promise<T> {
    const end = this.#begin(risk);
    try {
      return await work();
    } finally {
      end();
    }
  }

  /** The same for work that is done at once. */
  riskingNow(risk: Risk, work: () => void): void {
    const end = this.#begin(risk);
    try {
      work();
    } finally {
      end();
    }
  }

  /** What was being done when the program ended the last time, and is so no more; what was loaded here says more than a trial elsewhere. */
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
