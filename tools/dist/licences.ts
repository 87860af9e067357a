import type { Package } from './packages.ts';

/** Packed components that are not npm packages: the libraries in @node-llama-cpp are built from them. */
const LIBRARIES = [
  'ggml and llama.cpp (https://github.com/ggml-org/llama.cpp), MIT licence, Copyright (c) 2023-2026 The ggml authors',
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

/** Names of packages with any other licence. */
export function unknownLicences(packages: readonly Package[]): string[] {
  const free = (license: string): boolean =>
    license
      .replace(/[()]/g, '')
      .split(/ OR /)
      .some((choice) => choice.split(/ AND /).every((one) => FREE.test(one.trim())));
  return packages
    .filter(({ license }) => !free(license))
    .map(({ name, license }) => `${name} (${license || 'none'})`);
}
