import { broken, noText } from './errors.ts';
import { joinPages, type DocumentParser } from './format.ts';
import { readRelationships, readXml } from './xml.ts';
import { ZipArchive } from './zip.ts';

export const pptx: DocumentParser = async (file) => {
  const zip = await ZipArchive.open(file);
  const presentation = await zip.text('ppt/presentation.xml');
  if (presentation === undefined) throw broken(file.name, 'it is not a presentation');
  const slides = [];
  for (const [i, part] of (await slideParts(zip, presentation)).entries()) {
    const slide = readSlide((await zip.text(part)) ?? '');
    const notes = await notesOf(zip, part);
    const text = [slide.text, notes].filter(Boolean).join('\n\n');
    const headings = slide.title === '' ? [] : [{ start: 0, level: 2, title: slide.title }];
    slides.push({ label: String(i + 1), title: slide.title, text, headings });
  }
  zip.close();
  const joined = joinPages(slides);
  if (joined.text === '') throw noText(file.name, 'its slides have only pictures');
  const empty = slides.filter(({ text }) => text === '').map(({ label }) => label);
  const warnings = empty.length > 0 ? [`Slides without text: ${empty.join(', ')}.`] : [];
  return { ...joined, title: slides[0]?.title ?? '', warnings };
};

/** Slides in presentation order. */
async function slideParts(zip: ZipArchive, presentation: string): Promise<string[]> {
  const targets = readRelationships((await zip.text('ppt/_rels/presentation.xml.rels')) ?? '', 'ppt');
  const parts: string[] = [];
  readXml(presentation, {
    open: (name, attributes) => {
      const target = name === 'p:sldId' ? targets.get(attributes['r:id'] ?? '') : undefined;
      if (target !== undefined) parts.push(target);
    },
  });
  return parts;
}

async function notesOf(zip: ZipArchive, slide: string): Promise<string> {
  const rels = slide.replace(/([^/]+)$/, '_rels/$1.rels');
  const targets = readRelationships((await zip.text(rels)) ?? '', 'ppt/slides');
  const part = [...targets.values()].find((target) => target.includes('/notesSlides/'));
  const notes = part === undefined ? '' : readSlide((await zip.text(part)) ?? '').text;
  // A notes page always repeats the slide's number; that alone is not a note.
  return /^[\s\d]*$/.test(notes) ? '' : notes;
}

/** Paragraphs of a slide, its title as a heading. */
function readSlide(xml: string): { title: string; text: string } {
  let title = '';
  const body: string[] = [];
  let placeholder = '';
  let paragraph = '';
  readXml(xml, {
    open: (name, attributes) => {
      if (name === 'p:sp') placeholder = '';
      if (name === 'p:ph') placeholder = attributes['type'] ?? 'body';
      if (name === 'a:p') paragraph = '';
      if (name === 'a:br' || name === 'a:tab') paragraph += ' ';
    },
    text: (text, inside) => {
      if (inside.at(-1) === 'a:t') paragraph += text;
    },
    close: (name) => {
      const line = paragraph.trim();
      if (name !== 'a:p' || line === '' || placeholder === 'sldNum') return;
      if (placeholder === 'title' || placeholder === 'ctrTitle')
        title = title === '' ? line : `${title} ${line}`;
      else body.push(line);
      paragraph = '';
    },
  });
  const text = [title === '' ? '' : `## ${title}`, body.join('\n\n')].filter(Boolean).join('\n\n');
  return { title, text };
}
