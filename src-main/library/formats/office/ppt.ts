import { broken, encrypted, noText } from '../errors.ts';
import { joinPages, type DocumentParser } from '../format.ts';
import { oneLine, TextBlocks } from './blocks.ts';
import { compoundStreams } from './compound.ts';
import { PptFile, type PptSlide } from './ppt-file.ts';

/** [MS-PPT] 2.3.2. */
const CURRENT_USER_ATOM = 0x0ff6;

/** Presentations from 1997 to 2003. */
export const ppt: DocumentParser = ({ name, bytes }) => {
  const streams = compoundStreams(bytes);
  const document = streams?.get('powerpoint document')?.();
  const user = streams?.get('current user')?.();
  if (document === undefined || user === undefined || user.length < 4)
    throw broken(name, 'it is damaged or not a presentation');
  if (user.readUInt16LE(2) !== CURRENT_USER_ATOM)
    throw broken(name, 'it is of a version of PowerPoint before 1997');
  const { slides: read, embedded } = readFile(name, document, user);
  const slides = read.map((slide, i) => ({
    label: String(i + 1),
    ...pageOf(slide),
    hidden: slide.hidden,
  }));
  const joined = joinPages(slides);
  const [hidden, empty] = [
    slides.filter((slide) => slide.hidden),
    slides.filter(({ text }) => text === ''),
  ].map((some) => some.map(({ label }) => label).join(', '));
  const warnings = [
    hidden ? `Hidden slides were read and are marked: ${hidden}.` : '',
    empty ? `Slides without text: ${empty}.` : '',
    embedded > 0 ? `Embedded objects, such as charts, were left out: ${embedded}.` : '',
  ].filter(Boolean);
  if (joined.text === '') throw noText(name, 'its slides have no text', warnings);
  return { ...joined, title: slides[0]?.title ?? '', warnings };
};

function readFile(name: string, document: Buffer, user: Buffer): { slides: PptSlide[]; embedded: number } {
  try {
    const file = new PptFile(document, user);
    if (file.isEncrypted) throw encrypted(name);
    return { slides: file.slides(), embedded: file.embedded() };
  } catch (error) {
    if (error instanceof RangeError) throw broken(name, 'its slides are damaged', error);
    throw error;
  }
}

function pageOf({ title, texts, notes, comments, hidden }: PptSlide): {
  title: string;
  text: string;
  headings: TextBlocks['headings'];
} {
  const out = new TextBlocks();
  const heading = oneLine(title);
  out.heading(2, heading);
  if (hidden) out.paragraph('(Hidden slide)');
  for (const text of texts) for (const line of text.split('\r')) out.paragraph(line.replaceAll('\x0b', '\n'));
  const spoken = notes
    .map((note) => note.replaceAll('\r', '\n').replaceAll('\x0b', '\n').trim())
    .filter((note) => !/^[\s\d*]*$/.test(note));
  if (spoken.length > 0) out.include(`Notes: ${spoken.join('\n\n')}`, []);
  for (const { author, text } of comments) {
    if (text !== '') out.paragraph(`[Comment${author === '' ? '' : ` by ${author}`}: ${oneLine(text)}]`);
  }
  return { title: heading, text: out.text, headings: out.headings };
}
