import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { greyOf, type Picture } from './picture.ts';

/** Tesseract's C++ interface (baseapi.h), as far as it is used. */
interface Api {
  Init(path: null, languages: string, mode: number): number;
  SetPageSegMode(mode: number): void;
  SetVariable(name: string, value: string): boolean;
  /** Reads /input; `orientation` as in EXIF. 0: read. */
  SetImageFile(orientation: number, angle: number): number;
  GetInputImage(): Pix;
  Recognize(monitor: null): number;
  GetJSONText(): string;
  Clear(): void;
}

/** Leptonica's picture: rows of 32-bit words, whose highest bits are the leftmost pixel. */
interface Pix {
  get_w(): number;
  get_h(): number;
  /** Bits per pixel: 1 (set: black), 2, 4, 8, 16 or 32 (red, green, blue, alpha). */
  get_d(): number;
  /** Samples per pixel. */
  get_spp(): number;
  /** Words a row. */
  get_wpl(): number;
  get_data(): number;
}

interface Core {
  FS: { writeFile(path: string, data: Uint8Array): void };
  TessBaseAPI: new () => Api;
  getValue(address: number, type: 'i32'): number;
}

/** What Tesseract found, in reading order. Boxes in pixels. */
export interface Layout {
  /** Those of pictures and lines have no paragraphs. */
  blocks: { paragraphs?: { lines: { words: LayoutWord[] }[] }[] }[];
}

export interface LayoutWord {
  text: string;
  /** 0 to 100. */
  confidence: number;
  bbox: { x0: number; y0: number; x1: number; y1: number };
}

/** Chinese first: a script that Latin letters cannot stand for. */
const LANGUAGES = ['chi_sim', 'eng', 'deu'];
const LSTM_ONLY = 1;
/** Of a picture in memory: four bytes each. */
const MAX_PIXELS = 100_000_000;
/** Finds columns. */
const PAGE_SEGMENTATION = 3;

const VARIABLES = {
  // Adaptive (Sauvola): shading and grey paper do not become ink. Its factor was the best on the 60 pages of decision 0261.
  thresholding_method: '2',
  thresholding_kfactor: '0.2',
  user_defined_dpi: '200',
};

const packageRequire = createRequire(import.meta.url);

let loaded: Promise<Tesseract> | undefined;

/** Tesseract, in WebAssembly, with its data for all languages. */
export function loadTesseract(): Promise<Tesseract> {
  return (loaded ??= load());
}

/** After a failure its memory may be damaged. */
export function unloadTesseract(): void {
  loaded = undefined;
}

async function load(): Promise<Tesseract> {
  const start = packageRequire('tesseract.js-core/tesseract-core-simd-lstm') as (
    options: object,
  ) => Promise<Core>;
  const silent = (): void => undefined;
  const core = await start({ print: silent, printErr: silent, TesseractProgress: silent });
  for (const language of LANGUAGES) {
    const folder = dirname(packageRequire.resolve(`@tesseract.js-data/${language}/package.json`));
    const packed = readFileSync(join(folder, '4.0.0_best_int', `${language}.traineddata.gz`));
    core.FS.writeFile(`./${language}.traineddata`, await promisify(gunzip)(packed));
  }
  return new Tesseract(core);
}

export class Tesseract {
  readonly #core: Core;
  readonly #api: Api;

  constructor(core: Core) {
    this.#core = core;
    this.#api = new core.TessBaseAPI();
    if (this.#api.Init(null, LANGUAGES.join('+'), LSTM_ONLY) !== 0) throw new Error('Tesseract has no data');
    for (const [name, value] of Object.entries(VARIABLES)) this.#api.SetVariable(name, value);
    this.#api.SetPageSegMode(PAGE_SEGMENTATION);
  }

  /** Decodes a PNG, JPEG, WebP or TIFF (its first page) by Leptonica; `orientation` as in EXIF. undefined: it is damaged. */
  decode(bytes: Uint8Array, orientation = 1): Picture | undefined {
    if (!this.#read(bytes, orientation)) return undefined;
    const pix = this.#api.GetInputImage();
    const [width, height, depth] = [pix.get_w(), pix.get_h(), pix.get_d()];
    if (width * height > MAX_PIXELS) return undefined;
    const [data, perRow, hasAlpha] = [pix.get_data(), pix.get_wpl(), pix.get_spp() === 4];
    const perWord = 32 / depth;
    const grey = new Uint8Array(width * height);
    for (let y = 0; y < height; y++)
      for (let x = 0; x < width; x += perWord) {
        const word = this.#core.getValue(data + 4 * (y * perRow + x / perWord), 'i32');
        const at = y * width + x;
        if (depth === 32)
          grey[at] = greyOf(
            word >>> 24,
            (word >>> 16) & 255,
            (word >>> 8) & 255,
            hasAlpha ? word & 255 : 255,
          );
        else
          for (let i = 0; i < perWord && x + i < width; i++) {
            const sample = ((word >>> (32 - depth * (i + 1))) & (2 ** depth - 1)) / (2 ** depth - 1);
            grey[at + i] = 255 * (depth === 1 ? 1 - sample : sample);
          }
      }
    this.#api.Clear();
    return { width, height, grey };
  }

  recognise({ width, height, grey }: Picture): Layout {
    const head = Buffer.from(`P5\n${width} ${height}\n255\n`);
    if (!this.#read(Buffer.concat([head, grey]), 1)) throw new Error('Tesseract does not read its input');
    this.#api.Recognize(null);
    const layout = JSON.parse(this.#api.GetJSONText()) as Layout;
    this.#api.Clear();
    return layout;
  }

  #read(bytes: Uint8Array, orientation: number): boolean {
    this.#core.FS.writeFile('/input', bytes);
    return this.#api.SetImageFile(orientation, 0) === 0;
  }
}
