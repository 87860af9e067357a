import type { DocumentInfo, LibraryInfo } from '../../../../../src-shared/contract/libraries.ts';
import { WebAddressSchema } from '../../../../../src-shared/web-address.ts';
import { KvasirError } from '../../../../../src-shared/errors.ts';
import type { CoreClient } from '../../../client/client.ts';

/** The library of pages that commands fetched. */
const NAME = 'Web pages';

interface WebPage {
  documentId: string;
  /** Of the library's files. */
  folder: string;
}

/** Fetches a page into a library of pages, if it is not there yet or `refetch`. BAD_ARGUMENT, the errors of libraries.addAddress. */
export async function webPage(client: CoreClient, url: string, refetch = false): Promise<WebPage> {
  if (!WebAddressSchema.safeParse(url).success)
    throw new KvasirError(
      'BAD_ARGUMENT',
      `${url} is no address of a web page.`,
      'Give one with http or https.',
    );
  const pagesOnly = ({ name, roots }: LibraryInfo): boolean =>
    name === NAME && roots.every(({ kind }) => kind === 'managed');
  const known = (await client.call('libraries.list')).find(pagesOnly);
  const { id } = known ?? (await client.call('libraries.create', { name: NAME }));
  const page =
    (refetch ? undefined : await fetchedPage(client, id, url)) ??
    (await client.call('libraries.addAddress', { id, url }));
  const library = (await client.call('libraries.list')).find((one) => one.id === id);
  return { documentId: page.id, folder: library?.roots[0]?.path ?? '' };
}

async function fetchedPage(
  client: CoreClient,
  libraryId: string,
  url: string,
): Promise<DocumentInfo | undefined> {
  const { href } = new URL(url);
  const { items } = await client.call('documents.list', { libraryId, limit: 1000 });
  return items.find(({ address }) => address === href.replace(/#.*/, ''));
}
