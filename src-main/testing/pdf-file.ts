export interface TestPage {
  /** Operators (ISO 32000-2, annex A). /F is Helvetica, /C Courier. */
  content: string;
  /** Further entries of the page, e.g. "/Rotate 90". */
  entries?: string;
  /** Further entries of its resources. */
  resources?: string;
  /** Dictionaries of annotations. */
  annotations?: readonly string[];
}

/** Further parts of the file. */
interface Extras {
  /** Entries of the catalog. */
  catalog?: string;
  /** Entries of the trailer. */
  trailer?: string;
  /** Further objects, from number 10 on: text is a dictionary or array, bytes with a dictionary a stream. */
  objects?: readonly (string | readonly [dictionary: string, content: string])[];
}

/** A PDF of A4 pages. */
export function pdfFile(
  pages: readonly (TestPage | string)[],
  { catalog = '', trailer = '', objects = [] }: Extras = {},
): Buffer {
  const all = new Map<number, string>();
  all.set(3, '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>');
  all.set(4, '<< /Type /Font /Subtype /Type1 /BaseFont /Courier /Encoding /WinAnsiEncoding >>');
  objects.forEach((object, i) => all.set(10 + i, typeof object === 'string' ? object : stream(...object)));
  const kids = pages.map((page, i) => {
    const {
      content,
      entries = '',
      resources = '',
      annotations = [],
    } = typeof page === 'string' ? { content: page } : page;
    const number = 1000 + 100 * i;
    const notes = annotations.map((_, n) => `${number + 2 + n} 0 R`).join(' ');
    annotations.forEach((annotation, n) => all.set(number + 2 + n, `<< /Type /Annot ${annotation} >>`));
    all.set(
      number,
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents ${number + 1} 0 R ${entries} /Annots [${notes}] ` +
        `/Resources << /Font << /F 3 0 R /C 4 0 R >> ${resources} >> >>`,
    );
    all.set(number + 1, stream('', content));
    return `${number} 0 R`;
  });
  all.set(1, `<< /Type /Catalog /Pages 2 0 R ${catalog} >>`);
  all.set(2, `<< /Type /Pages /Kids [${kids.join(' ')}] /Count ${kids.length} >>`);
  const body = [...all].map(([number, object]) => `${number} 0 obj\n${object}\nendobj\n`).join('');
  return Buffer.from(`%PDF-1.7\n${body}trailer\n<< /Root 1 0 R /Size 5000 ${trailer} >>\n%%EOF\n`, 'latin1');
}

function stream(dictionary: string, content: string): string {
  return `<< ${dictionary} /Length ${content.length} >>\nstream\n${content}\nendstream`;
}

/** A line of text at a place, in points from the lower left corner. */
export function at(x: number, y: number, text: string, size = 12, font = 'F'): string {
  return `BT /${font} ${size} Tf 1 0 0 1 ${x} ${y} Tm (${text.replace(/[()\\]/g, '\\$&')}) Tj ET\n`;
}
