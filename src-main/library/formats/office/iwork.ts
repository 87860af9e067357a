import { KvasirError } from '../../../../src-shared/errors.ts';
import type { DocumentParser } from '../format.ts';
import { ZipArchive } from '../zip.ts';

/** Documents of Pages, Numbers and Keynote. Their own format is not documented; many bring a preview in PDF. */
export const iwork: DocumentParser = async (file) => {
  const zip = await ZipArchive.open(file);
  const bytes = await zip.read('QuickLook/Preview.pdf');
  if (bytes === undefined) {
    throw new KvasirError(
      'DOCUMENT_UNSUPPORTED',
      `Kvasir reads a document of Pages, Numbers or Keynote by its PDF preview, and ${file.name} has none.`,
      'Export it as PDF or Word and add that.',
    );
  }
  const { pdf } = await import('../pdf.ts');
  const parsed = await pdf({ name: file.name, bytes });
  const warning = 'It was read from its preview, which can lack pages, notes and comments.';
  return { ...parsed, warnings: [warning, ...parsed.warnings] };
};
