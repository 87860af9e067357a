/** How the window shows a file itself. `page`: as HTML that Kvasir builds from it. */
export type Viewer = 'pdf' | 'image' | 'page';

const FORMATS: readonly (readonly [Viewer, formats: string])[] = [
  ['pdf', 'pdf'],
  ['image', 'png jpg jpeg gif webp bmp avif'],
  [
    'page',
    'docx docm dotx dotm doc dot rtf odt ott fodt pptx pptm potx potm ppsx ppsm ppt pps pot odp otp fodp odg pages key ' +
      'epub html htm xhtml eml emlx mbox mbx mhtml mht msg ipynb md markdown mdown mdx qmd rmd',
  ],
];

const VIEWERS = new Map<string, Viewer>(
  FORMATS.flatMap(([viewer, formats]) => formats.split(' ').map((format) => [format, viewer] as const)),
);

/** The viewer for files with this extension; undefined: their text is what they look like. */
export function viewerOf(format: string): Viewer | undefined {
  return VIEWERS.get(format);
}

/** Documents that people read and write as text: that is shown first. */
export function isReadAsText(format: string): boolean {
  return viewerOf(format) === undefined || /^(?:md|markdown|mdown|mdx|qmd|rmd)$/.test(format);
}
