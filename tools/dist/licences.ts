import type { Package } from './packages.ts';

/** Packed components that are not npm packages: the libraries in @node-llama-cpp are built from them. */
const LIBRARIES = [
  'ggml and llama.cpp (https://github.com/ggml-org/llama.cpp), MIT licence, Copyright (c) 2023-2026 The ggml authors',
  'PDFium (https://pdfium.googlesource.com/pdfium) in @hyzyla/pdfium, BSD-3-Clause and Apache-2.0 licences, Copyright 2014 The PDFium Authors',
  'Leptonica (http://www.leptonica.org) in tesseract.js-core, BSD-2-Clause licence, Copyright (C) 2001-2020 Leptonica',
  'Tesseract’s trained data (https://github.com/tesseract-ocr/tessdata_best) in @tesseract.js-data, Apache-2.0 licence',
  'libheif and libde265 (https://github.com/strukturag) in libheif-js, LGPL-3.0 licence, Copyright (c) 2013-2026 struktur AG',
];

/** Returns the licences of everything that is packed, as one readable text. */
export function licencesText(packages: readonly Package[]): string {
  const line = '-'.repeat(79);
  const parts = packages.map(
    ({ name, version, license, texts }) =>
      `${line}\n${name} ${version}: ${license}\n\n${texts.length > 0 ? texts.join('\n\n') : MISSING}\n`,
  );
  const head = 'Kvasir is made with these programs and libraries. Each belongs to its authors.\n';
  return [head, ...LIBRARIES.map((library) => `${library}\n`), ...parts].join('\n');
}

const MISSING = 'The package brings no text of its licence.';

/** Licences that permit redistribution of the whole. Any other licence stops packaging until someone has reviewed it. */
const FREE =
  /^(MIT|MIT-0|ISC|BSD(-[23]-Clause)?|Apache-2\.0|0BSD|BlueOak-1\.0\.0|CC0-1\.0|Unlicense|Python-2\.0|Zlib|WTFPL)$/;

/** Packages with another licence that somebody has reviewed, and why they may be packed. */
const REVIEWED: Readonly<Record<string, string>> = {
  'libheif-js': 'LGPL-3.0: unchanged WebAssembly in files outside the archive, which anybody may replace',
};

/** Names of packages with any other licence. */
export function unknownLicences(packages: readonly Package[]): string[] {
  const free = (license: string): boolean =>
    license
      .replace(/[()]/g, '')
      .split(/ OR /)
      .some((choice) => choice.split(/ AND /).every((one) => FREE.test(one.trim())));
  return packages
    .filter(({ name, license }) => !free(license) && !(name in REVIEWED))
    .map(({ name, license }) => `${name} (${license || 'none'})`);
}
