/** Addresses of a document's file and page, below the window's own (hosts/window/document-files.ts). */
export function fileUrl(id: string): string {
  return new URL(`document/${encodeURIComponent(id)}/file`, base()).href;
}

export function pageUrl(
  id: string,
  query: Readonly<Record<string, number | boolean | undefined>>,
  fragment: string,
): string {
  const url = new URL(`document/${encodeURIComponent(id)}/page`, base());
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== false)
      url.searchParams.set(name, value === true ? '' : String(value));
  url.hash = fragment;
  return url.href;
}

function base(): string {
  return location.href.split('#')[0] ?? '';
}
