const PLAIN =
  /^(?:the |an? )?(?:(?:book |front |back )?cover|image|picture|photo|figure|illustration|page|title ?page|logo|icon|img|avatar|unknown|placeholder|null|undefined)(?: image| page)?[\s_\-#.:]*\d*$|\.(?:jpe?g|png|gif|svg|webp|bmp|tiff?|[ew]mf)$|^https?:\/\/\S*$/i;
/** What Microsoft Office adds to a description that it made. */
const GENERATED = / ?\b(?:Description automatically generated|AI-generated content may be incorrect)\b.*$/is;

/** What an author wrote for those who cannot see a picture; '' if that only says that there is a picture, or which file it is. */
export function pictureText(description: string | undefined): string {
  const text = (description ?? '').replace(/\s+/g, ' ').replace(GENERATED, '').trim();
  return PLAIN.test(text) ? '' : text;
}
