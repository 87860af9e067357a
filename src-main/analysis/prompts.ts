/** The answer for one part of a document. */
export interface Note {
  /** Number of the part, from 1. */
  number: number;
  text: string;
  /** Whether it was cut off. */
  cut?: boolean;
}

const ENGLISH = {
  part: (number: number) => `Part ${number}:`,
  intro:
    'The following answers were each written from one part of a longer document, in order. Combine them into one answer for the whole document, without repeating anything.',
  task: 'What was asked: ',
};

const CHINESE = {
  part: (number: number) => `第 ${number} 部分：`,
  intro:
    '以下各段回答分别依据一份长文档的各个部分按顺序写成。请将它们合并为针对整份文档的一个回答，不要重复。',
  task: '所问内容：',
};

/** The prompt that combines several answers into one; in Chinese when the instruction is. */
export function combiningQuestion(instruction: string, notes: readonly Note[]): string {
  const { intro, task } = wordsFor(instruction);
  return [intro, ...notes.map((note) => noteText(note, instruction)), task + instruction].join('\n\n');
}

/** A note as it appears in the question. */
export function noteText({ number, text }: Note, instruction: string): string {
  return `${wordsFor(instruction).part(number)}\n${text.trim()}`;
}

function wordsFor(instruction: string): typeof ENGLISH {
  return /\p{Script=Han}/u.test(instruction) ? CHINESE : ENGLISH;
}

/**
 * Shortens notes until one prompt can hold them: cuts as little as needed, from the ends of the longest. `fits` tells whether these notes
 * fit. Returns how many of them were cut.
 */
export function fitNotes(
  notes: readonly Note[],
  fits: (notes: readonly Note[]) => boolean,
): { notes: readonly Note[]; cut: number } {
  if (fits(notes)) return { notes, cut: 0 };
  const cutTo = (most: number): Note[] =>
    notes.map((note) =>
      note.text.length > most
        ? { ...note, text: `${note.text.slice(0, most).toWellFormed().trim()} …` }
        : note,
    );
  let [shortest, longest] = [0, Math.max(...notes.map(({ text }) => text.length))];
  while (longest - shortest > 1) {
    const middle = Math.floor((shortest + longest) / 2);
    if (fits(cutTo(middle))) shortest = middle;
    else longest = middle;
  }
  return { notes: cutTo(shortest), cut: notes.filter(({ text }) => text.length > shortest).length };
}
