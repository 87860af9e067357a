import { createRequire, registerHooks } from 'node:module';
import { dirname, join, sep } from 'node:path';
import { getDocument, type PDFDocumentProxy } from 'pdfjs-dist/legacy/build/pdf.mjs';
import { broken, encrypted, encryptedByCertificate, reasonOf } from '../errors.ts';
import type { SourceFile } from '../format.ts';

/** Adobe's predefined character collections, which Chinese, Japanese and Korean documents take for granted. */
const CMAPS = join(dirname(createRequire(import.meta.url).resolve('pdfjs-dist/package.json')), 'cmaps', sep);

/**
 * Things that pdf.js reads but does not pass on: the replacement text of marked content (ISO 32000-2, 14.9.4), the place of an image that
 * is too large to be decoded, which is every image here, and the XML of XFA forms. If pdf.js changes these lines, its own behaviour remains, and
 * pdf-glyphs.test.ts fails.
 */
const PATCHES: readonly (readonly [from: string, to: string])[] = [
  [
    'args = [args[0].name, args[1] instanceof Dict ? args[1].get("MCID") : null];',
    `const marked = args[1] instanceof Name ? resources.get("Properties")?.get(args[1].name) : args[1];
     const replacement = marked instanceof Dict ? marked.get("ActualText") : null;
     args = [args[0].name, typeof replacement === "string" ? stringToPDFString(replacement) : null];`,
  ],
  // In a font of pictures it throws instead, and the font loses the height of the letter.
  [
    'if (!ignoreErrors) {\n        throw new Error(msg);\n      }\n      warn(msg);\n      return;',
    'operatorList.addOp(OPS.paintImageXObject, [msg]);\n      return;',
  ],
  [
    'IsXFAPresent: formInfo.hasXfa,',
    `IsXFAPresent: formInfo.hasXfa,
     Xfa: [...(this._xfaStreams ?? [])].map(([key, part]) => {
       if (!part || !["xdp:xdp", "template", "datasets"].includes(key)) return "";
       part.reset();
       const xml = stringToUTF8String(part.getString());
       part.reset();
       return xml;
     }),`,
  ],
  // Work whose results are not used: the text below links, and the outlines of letters.
  [
    'annotation.overlaysTextContent && isVisible',
    'annotation.overlaysTextContent && annotation.data.subtype !== "Link" && isVisible',
  ],
  ['PartialEvaluator.buildFontPaths(font, glyphs, this.handler, this.options);', ''],
];

let worker: Promise<unknown> | undefined;

/** Loads the worker, which pdf.js would otherwise do, unchanged, with the first document. */
function loadWorker(): Promise<unknown> {
  if (worker) return worker;
  const hooks = registerHooks({
    load(url, context, next) {
      const loaded = next(url, context);
      if (!url.endsWith('/pdf.worker.mjs') || !loaded.source) return loaded;
      const source = Buffer.from(loaded.source as Uint8Array).toString();
      return {
        ...loaded,
        source: PATCHES.reduce((text, [from, to]) => text.replace(from, () => to), source),
      };
    },
  });
  // @ts-expect-error It has no types.
  worker = import('pdfjs-dist/legacy/build/pdf.worker.mjs').finally(() => hooks.deregister());
  return worker;
}

/** Opens a PDF that has no password, or an empty one. DOCUMENT_ENCRYPTED, DOCUMENT_UNREADABLE. */
export async function openPdf({ bytes, name }: SourceFile): Promise<PDFDocumentProxy> {
  await loadWorker();
  try {
    return await getDocument({
      data: new Uint8Array(bytes),
      verbosity: 0,
      disableFontFace: true,
      useSystemFonts: false,
      useWorkerFetch: false,
      cMapUrl: CMAPS,
      stopAtErrors: false,
      enableXfa: false,
      // Pictures are not decoded.
      maxImageSize: 0,
    }).promise;
  } catch (error) {
    if ((error as Error).name === 'PasswordException') throw encrypted(name);
    // ISO 32000-2, 7.6.5: every security handler but "Standard" asks for a key that is not a password.
    if (/unknown encryption method/i.test(reasonOf(error))) throw encryptedByCertificate(name);
    throw broken(name, `it is damaged or not a PDF (${reasonOf(error)})`, error);
  }
}
