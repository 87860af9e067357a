import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { PDFiumLibrary } from '@hyzyla/pdfium';
import { broken } from '../formats/errors.ts';
import type { SourceFile } from '../formats/format.ts';
import { imageKind } from '../formats/image.ts';
import { tiffPage } from '../formats/tiff.ts';
import { greyOf, type Picture } from './picture.ts';
import type { Tesseract } from './tesseract.ts';

const POINTS_PER_INCH = 72;
const DPI = 200;
/** Of a side, in pixels: A2 at 200 dpi. */
const MAX_SIDE = 5000;

const packageRequire = createRequire(import.meta.url);

/** A page of a document as a picture, upright as far as the file says how. DOCUMENT_UNREADABLE. */
export async function pagePicture(
  file: SourceFile,
  format: string,
  page: number,
  tesseract: Tesseract,
): Promise<Picture> {
  if (format === 'pdf') return pdfPicture(file, page);
  const kind = imageKind(file);
  if (kind === 'heif') return heifPicture(file);
  const picture =
    kind === 'tiff'
      ? tesseract.decode(tiffPage(file, page))
      : tesseract.decode(file.bytes, orientationOf(file.bytes));
  if (!picture) throw broken(file.name, 'it is damaged, too large, or not a picture');
  return picture;
}

let pdfium: Promise<PDFiumLibrary> | undefined;

async function pdfPicture({ bytes }: SourceFile, index: number): Promise<Picture> {
  const document = await (await (pdfium ??= PDFiumLibrary.init())).loadDocument(bytes);
  try {
    const page = document.getPage(index);
    const { originalWidth, originalHeight } = page.getOriginalSize();
    const scale = Math.min(DPI / POINTS_PER_INCH, MAX_SIDE / Math.max(originalWidth, originalHeight));
    const { width, height, data } = await page.render({ scale, colorSpace: 'Gray', render: 'bitmap' });
    return { width, height, grey: data };
  } finally {
    document.destroy();
  }
}

/** libheif's module, as far as it is used. */
interface Heif {
  HeifDecoder: new () => { decode(bytes: Uint8Array): HeifImage[] };
}

interface HeifImage {
  get_width(): number;
  get_height(): number;
  display(
    into: { data: Uint8ClampedArray; width: number; height: number },
    done: (filled: { data: Uint8ClampedArray } | null) => void,
  ): void;
}

async function heifPicture({ bytes, name }: SourceFile): Promise<Picture> {
  const wasmBinary = readFileSync(packageRequire.resolve('libheif-js/libheif-wasm/libheif.wasm'));
  const start = packageRequire('libheif-js/libheif-wasm/libheif.js') as (options: object) => Heif;
  const { HeifDecoder } = start({ wasmBinary });
  const [image] = new HeifDecoder().decode(bytes);
  if (!image) throw broken(name, 'it is damaged or not a HEIC picture');
  const [width, height] = [image.get_width(), image.get_height()];
  const data = new Uint8ClampedArray(4 * width * height).fill(255);
  const filled = await new Promise((resolve) => image.display({ data, width, height }, resolve));
  if (!filled) throw broken(name, 'its picture is damaged');
  const grey = new Uint8Array(width * height);
  for (let i = 0; i < grey.length; i++) {
    const [red = 0, green = 0, blue = 0, alpha = 0] = data.subarray(4 * i, 4 * i + 4);
    grey[i] = greyOf(red, green, blue, alpha);
  }
  return { width, height, grey };
}

/** The EXIF tag, in either byte order, in the first part of a JPEG file: how the camera was held. */
function orientationOf(bytes: Buffer): number {
  const head = bytes.toString('hex', 0, 4096);
  const found = /0112000300000001000([1-8])|12010300010000000([1-8])00/.exec(head);
  return Number(found?.[1] ?? found?.[2] ?? 1);
}
