/** Reads the records of a PowerPoint 97 document ([MS-PPT]). */

export interface PptSlide {
  title: string;
  texts: string[];
  notes: string[];
  comments: { author: string; text: string }[];
  hidden: boolean;
}

interface PptRecord {
  type: number;
  instance: number;
  /** Of its content. */
  start: number;
  end: number;
  isContainer: boolean;
}

/** Types of records (2.13.24). */
const SLIDE_LIST = 0x0ff0;
const SLIDE_PERSIST = 0x03f3;
const SLIDE_INFO = 0x03f9;
const NOTES_ATOM = 0x03f1;
const TEXT_HEADER = 0x0f9f;
const TEXT_UTF16 = 0x0fa0;
const TEXT_BYTES = 0x0fa8;
const USER_EDIT = 0x0ff5;

const BINARY_TAG = 0x138b;
const COMMENT = 0x2ee0;
const STRING = 0x0fba;
const EMBEDDED = 0x0fcc;

const MAX_DEPTH = 40;
const MAX_EDITS = 1000;
/** Kinds of text that are titles (2.13.33). */
const TITLES = new Set([0, 6]);

export class PptFile {
  readonly isEncrypted: boolean;
  readonly #bytes: Buffer;
  /** Offsets of the objects that are in force, by their numbers: a file keeps older versions too (2.3.4). */
  readonly #objects = new Map<number, number>();
  #root = 0;

  /** RangeError if it is damaged. */
  constructor(document: Buffer, user: Buffer) {
    this.#bytes = document;
    this.isEncrypted = user.readUInt32LE(12) === 0xf3d1c4df;
    if (!this.isEncrypted) this.#readEdits(user.readUInt32LE(16));
  }

  slides(): PptSlide[] {
    const root = this.#record(this.#objects.get(this.#root) ?? 0);
    const lists = this.#children(root).filter(({ type }) => type === SLIDE_LIST);
    const notes = new Map<number, string[]>();
    for (const { object } of this.#listed(lists.find(({ instance }) => instance === 2))) {
      const record = this.#object(object);
      const atom = this.#children(record).find(({ type }) => type === NOTES_ATOM);
      if (record && atom)
        notes.set(
          this.#bytes.readUInt32LE(atom.start),
          this.#texts(record).map(({ text }) => text),
        );
    }
    return this.#listed(lists.find(({ instance }) => instance === 0)).map(
      ({ object, id, texts: outline }) => {
        const record = this.#object(object);
        // Text of placeholders is in the list of slides or on the slide itself.
        const texts = [
          ...outline,
          ...this.#texts(record).filter(({ text }) => !outline.some((each) => each.text === text)),
        ];
        const info = this.#children(record).find(({ type }) => type === SLIDE_INFO);
        return {
          title: texts.find(({ kind }) => TITLES.has(kind))?.text ?? '',
          texts: texts
            .filter((each) => each !== texts.find(({ kind }) => TITLES.has(kind)))
            .map(({ text }) => text),
          notes: notes.get(id) ?? [],
          comments: this.#comments(record),
          hidden: info !== undefined && (this.#bytes.readUInt16LE(info.start + 10) & 4) !== 0,
        };
      },
    );
  }

  /** How many objects of other programs, such as charts, it has. */
  embedded(): number {
    const root = this.#record(this.#objects.get(this.#root) ?? 0);
    return this.#children(root)
      .flatMap((child) => this.#children(child.isContainer ? child : undefined))
      .filter(({ type }) => type === EMBEDDED).length;
  }

  /** Comments are in records inside a binary tag (2.5.22), which is not marked as a container. */
  #comments(record: PptRecord | undefined, depth = 0): { author: string; text: string }[] {
    return this.#children(record).flatMap((child) => {
      if (child.type === COMMENT) {
        const strings = this.#children(child).filter(({ type }) => type === STRING);
        const string = (instance: number): string => {
          const found = strings.find((each) => each.instance === instance);
          return found ? this.#bytes.toString('utf16le', found.start, found.end) : '';
        };
        return [{ author: string(0), text: string(1) }];
      }
      const isOpen = child.isContainer || child.type === BINARY_TAG;
      return isOpen && depth < MAX_DEPTH ? this.#comments(child, depth + 1) : [];
    });
  }

  /** Slides of a list, with the texts that follow each. */
  #listed(
    list: PptRecord | undefined,
  ): { object: number; id: number; texts: { kind: number; text: string }[] }[] {
    const slides: { object: number; id: number; texts: { kind: number; text: string }[] }[] = [];
    let kind = 4;
    for (const record of this.#children(list)) {
      if (record.type === SLIDE_PERSIST) {
        slides.push({
          object: this.#bytes.readUInt32LE(record.start),
          id: this.#bytes.readUInt32LE(record.start + 12),
          texts: [],
        });
      }
      if (record.type === TEXT_HEADER) kind = this.#bytes.readUInt32LE(record.start);
      const text = this.#text(record);
      if (text !== undefined) slides.at(-1)?.texts.push({ kind, text });
    }
    return slides;
  }

  /** Texts anywhere in a slide. */
  #texts(record: PptRecord | undefined, depth = 0): { kind: number; text: string }[] {
    let kind = 4;
    return this.#children(record).flatMap((child) => {
      if (child.type === TEXT_HEADER) kind = this.#bytes.readUInt32LE(child.start);
      const text = this.#text(child);
      if (text !== undefined) return [{ kind, text }];
      return child.isContainer && depth < MAX_DEPTH ? this.#texts(child, depth + 1) : [];
    });
  }

  #text({ type, start, end }: PptRecord): string | undefined {
    if (type !== TEXT_UTF16 && type !== TEXT_BYTES) return undefined;
    const text = this.#bytes.toString(type === TEXT_UTF16 ? 'utf16le' : 'latin1', start, end);
    return text.trim() === '' || /^[*\s]*$/.test(text) ? undefined : text;
  }

  #object(number: number): PptRecord | undefined {
    const at = this.#objects.get(number);
    return at === undefined ? undefined : this.#record(at);
  }

  /** From the last edit back to the first: newer places of objects count. */
  #readEdits(last: number): void {
    const seen = new Set<number>();
    for (let at = last; at !== 0 && !seen.has(at) && seen.size < MAX_EDITS;) {
      seen.add(at);
      const edit = this.#record(at);
      if (edit.type !== USER_EDIT) throw new RangeError('damaged list of edits');
      if (this.#root === 0) this.#root = this.#bytes.readUInt32LE(edit.start + 16);
      this.#readPlaces(this.#record(this.#bytes.readUInt32LE(edit.start + 12)));
      at = this.#bytes.readUInt32LE(edit.start + 8);
    }
  }

  /** A directory of objects (2.3.5): a first number of 20 bits, a count of 12, then offsets. */
  #readPlaces({ start, end }: PptRecord): void {
    for (let at = start; at + 4 <= end;) {
      const head = this.#bytes.readUInt32LE(at);
      const [first, count] = [head & 0xfffff, head >>> 20];
      at += 4;
      for (let i = 0; i < count && at + 4 <= end; i += 1, at += 4) {
        if (!this.#objects.has(first + i)) this.#objects.set(first + i, this.#bytes.readUInt32LE(at));
      }
    }
  }

  #record(at: number): PptRecord {
    const version = this.#bytes.readUInt16LE(at);
    const length = this.#bytes.readUInt32LE(at + 4);
    const end = Math.min(at + 8 + length, this.#bytes.length);
    return {
      type: this.#bytes.readUInt16LE(at + 2),
      instance: version >> 4,
      start: at + 8,
      end,
      isContainer: (version & 15) === 15,
    };
  }

  #children(parent: PptRecord | undefined): PptRecord[] {
    const children: PptRecord[] = [];
    if (parent === undefined) return children;
    for (let at = parent.start; at + 8 <= parent.end;) {
      const child = this.#record(at);
      children.push(child);
      at = child.end;
    }
    return children;
  }
}
