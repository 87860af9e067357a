import type { Package } from './packages.ts';

/** What is packed that no package is the author of: the libraries of @node-llama-cpp are built from it. */
const LIBRARIES = [
  'ggml and llama.cpp (https://github.com/ggml-org/llama.cpp), MIT licence, Copyright (c) 2023-2026 The ggml authors',
];

/** The licences of everything that is packed, as one text for people to read. */
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

/** Licences under which anybody may pass the whole on; with any other the packer stops, for a person to look. */
const FREE =
  /^(MIT|MIT-0|ISC|BSD(-[23]-Clause)?|Apache-2\.0|0BSD|BlueOak-1\.0\.0|CC0-1\.0|Unlicense|Python-2\.0|Zlib|WTFPL)$/;

/** Names of packages whose licence is none of those. */
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
