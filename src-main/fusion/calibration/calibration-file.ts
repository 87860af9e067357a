import { readFileSync, renameSync } from 'node:fs';
import { z } from 'zod';
import { CalibrationSchema, type Calibration } from '../../../src-shared/contract/calibration.ts';
import { fileError } from '../../platform/paths.ts';
import { replaceFile } from '../../platform/replace-file.ts';

const FileSchema = z.object({ version: z.literal(3), calibrations: z.array(CalibrationSchema) });

const SUBJECT = ['fingerprint', 'device', 'dtype', 'kvDtype'] as const;

type Subject = Pick<Calibration, (typeof SUBJECT)[number]>;

/** Calibrations of all models, in one file of the data folder (docs/formats/calibration.md). */
export class CalibrationFile {
  readonly #path: string;
  #calibrations: Calibration[];

  /** A file that cannot be read is set aside at the next save and treated as empty: it holds nothing but measurements. */
  constructor(path: string) {
    this.#path = path;
    this.#calibrations = read(path) ?? [];
  }

  /** Newest first, one for each kind of text. */
  find(subject: Subject): Calibration[] {
    return this.#calibrations.filter((known) => same(known, subject)).toReversed();
  }

  /** As `find`, whatever number format its chunks had. */
  findModel({ fingerprint, device, kvDtype }: Omit<Subject, 'dtype'>): Calibration[] {
    return this.#calibrations
      .filter((known) => same(known, { fingerprint, device, kvDtype, dtype: known.dtype }))
      .toReversed();
  }

  /** Replaces the one for the same model, device, number formats and kind of text. STORE_READ_ONLY, DISK_FULL. */
  save(calibration: Calibration): void {
    const others = this.#calibrations.filter(
      (known) => !same(known, calibration) || known.textKind !== calibration.textKind,
    );
    const calibrations = [...others, calibration];
    try {
      if (read(this.#path) === undefined) renameSync(this.#path, `${this.#path}.unreadable`);
      const content: z.infer<typeof FileSchema> = { version: 3, calibrations };
      replaceFile(this.#path, `${JSON.stringify(content, null, 1)}\n`);
    } catch (error) {
      throw fileError(error, `The calibrations ${this.#path} could not be written`);
    }
    this.#calibrations = calibrations;
  }
}

function same(a: Subject, b: Subject): boolean {
  return SUBJECT.every((field) => a[field] === b[field]);
}

/** Empty when there is no file; undefined when the file cannot be read. */
function read(path: string): Calibration[] | undefined {
  try {
    return FileSchema.parse(JSON.parse(readFileSync(path, 'utf8'))).calibrations;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? [] : undefined;
  }
}
