import { descendants, isElement, nameOf, type HtmlElement } from '../html/nodes.ts';

/** Bytes of pictures on a page. */
const MAX_BYTES = 15 * 1024 * 1024;

/** Puts the pictures of a page into it. Those that only an SVG drawing frames, as most books' covers, take its place. */
export async function inlinePictures(
  root: Parameters<typeof descendants>[0],
  picture: (address: string) => Promise<Uint8Array | undefined>,
): Promise<void> {
  let bytes = 0;
  for (const node of descendants(root)) {
    if (!isElement(node)) continue;
    const name = nameOf(node);
    const address = name === 'img' ? node.attribs['src'] : name === 'svg' ? framedPicture(node) : undefined;
    if (address === undefined || address.startsWith('data:')) continue;
    // One damaged picture does not cost the page.
    const data = bytes > MAX_BYTES ? undefined : await picture(address).catch(() => undefined);
    const type = data && pictureType(data);
    node.name = 'img';
    node.attribs['src'] =
      type === undefined ? '' : `data:${type};base64,${Buffer.from(data ?? []).toString('base64')}`;
    bytes += data?.length ?? 0;
  }
}

function framedPicture(svg: HtmlElement): string | undefined {
  for (const node of descendants(svg)) {
    if (isElement(node) && nameOf(node) === 'image')
      return node.attribs['xlink:href'] ?? node.attribs['href'];
  }
  return undefined;
}

/** By its first bytes. Drawings in SVG are not among them: they are documents themselves. */
function pictureType(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.subarray(0, 12)).toString('latin1');
  if (head.startsWith('\x89PNG')) return 'image/png';
  if (head.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (head.startsWith('GIF8')) return 'image/gif';
  return head.startsWith('RIFF') && head.endsWith('WEBP') ? 'image/webp' : undefined;
}
