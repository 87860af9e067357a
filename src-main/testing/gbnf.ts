/** A reader of GBNF grammars for tests: whether they allow a text, and random texts that they allow. */

interface Character {
  kind: 'character';
  allows: (character: number) => boolean;
  /** Ranges of characters that are allowed. */
  some: readonly (readonly [number, number])[];
}

type Item =
  | Character
  | { kind: 'rule'; name: string }
  | { kind: 'ways'; ways: readonly Item[][] }
  | { kind: 'times'; item: Item; least: number; most: number };

/** What is still to be read. */
interface Rest {
  readonly item: Item;
  readonly then: Rest | undefined;
  readonly id: number;
}

interface Next {
  ends: boolean;
  characters: (Rest & { item: Character })[];
}

const END = -1;

export class Gbnf {
  readonly #rules = new Map<string, Item[][]>();
  readonly #ids = new Map<Item, Map<number, Rest>>();
  readonly #later = new Map<Item, Map<string, Item>>();
  readonly #costs = new Map<string, number>();
  #count = 0;

  constructor(grammar: string) {
    for (const line of grammar.split('\n').filter((each) => each.trim() !== '')) {
      const [name = '', body = ''] = line.split(/ ::= (.*)/su);
      if (this.#rules.has(name)) throw new Error(`The rule ${name} is defined twice.`);
      this.#rules.set(name, new Reader(body).ways());
    }
    for (const ways of this.#rules.values()) this.#requireRules(ways);
    for (let changed = true; changed;) {
      changed = false;
      for (const [name, ways] of this.#rules) {
        const cost = this.#costOf({ kind: 'ways', ways });
        changed ||= cost !== (this.#costs.get(name) ?? Infinity);
        this.#costs.set(name, cost);
      }
    }
  }

  get size(): number {
    return this.#rules.size;
  }

  allows(text: string): boolean {
    let next = this.#start();
    for (const character of text) {
      const code = character.codePointAt(0) ?? 0;
      next = this.#closed(next.characters.filter(({ item }) => item.allows(code)).map(({ then }) => then));
    }
    return next.ends;
  }

  /** A text that the grammar allows; from `length` characters on it takes the shortest way to its end. */
  random(chance: () => number, length: number): string {
    let text = '';
    for (let { ends, characters } = this.#start(); ;) {
      if (ends && (characters.length === 0 || text.length >= length || chance() < 0.3)) return text;
      const costs = characters.map((each) => this.#costOfRest(each));
      const least = Math.min(...costs);
      const choices = characters.filter((_, i) => text.length < length || costs[i] === least);
      const chosen = choices[Math.floor(chance() * choices.length)];
      if (!chosen) throw new Error(`Nothing may follow ${text}.`);
      const { some } = chosen.item;
      const [from, to] = some[Math.floor(chance() * some.length)] ?? [0, 0];
      const character = from + Math.floor(chance() * (Math.min(to, from + 40) - from + 1));
      text += String.fromCodePoint(character);
      const followed = characters.filter(({ item }) => item.allows(character));
      ({ ends, characters } = this.#closed(followed.map(({ then }) => then)));
    }
  }

  #start(): Next {
    return this.#closed([this.#rest({ kind: 'rule', name: 'root' }, undefined)]);
  }

  #rest(item: Item, then: Rest | undefined): Rest {
    const known = this.#ids.get(item) ?? new Map<number, Rest>();
    this.#ids.set(item, known);
    const made = known.get(then?.id ?? END) ?? { item, then, id: this.#count++ };
    known.set(then?.id ?? END, made);
    return made;
  }

  /** The characters that may come next, by what follows them. */
  #closed(rests: readonly (Rest | undefined)[]): Next {
    const closed: Next = { ends: false, characters: [] };
    const seen = new Set<number>();
    const open = [...rests];
    while (open.length > 0) {
      const rest = open.pop();
      const id = rest?.id ?? END;
      if (seen.has(id)) continue;
      seen.add(id);
      if (rest === undefined) closed.ends = true;
      else if (rest.item.kind === 'character') closed.characters.push({ ...rest, item: rest.item });
      else open.push(...this.#expanded(rest.item, rest.then));
    }
    return closed;
  }

  #expanded(item: Item, then: Rest | undefined): (Rest | undefined)[] {
    if (item.kind === 'rule') return this.#each(this.#rules.get(item.name) ?? [], then);
    if (item.kind === 'ways') return this.#each(item.ways, then);
    if (item.kind !== 'times') return [];
    if (item.most === 0) return [then];
    const once = this.#rest(item.item, this.#rest(this.#after(item), then));
    return item.least === 0 ? [then, once] : [once];
  }

  #after(item: Item & { kind: 'times' }): Item {
    const [least, most] = [Math.max(0, item.least - 1), item.most - 1];
    const known = this.#later.get(item.item) ?? new Map<string, Item>();
    this.#later.set(item.item, known);
    const made: Item = known.get(`${least},${most}`) ?? { ...item, least, most };
    known.set(`${least},${most}`, made);
    return made;
  }

  #each(ways: readonly Item[][], then: Rest | undefined): (Rest | undefined)[] {
    return ways.map((way) => way.reduceRight((rest: Rest | undefined, item) => this.#rest(item, rest), then));
  }

  #costOfRest(rest: Rest | undefined): number {
    let cost = 0;
    for (let each = rest; each; each = each.then) cost += this.#costOf(each.item);
    return cost;
  }

  #costOf(item: Item): number {
    if (item.kind === 'character') return 1;
    if (item.kind === 'rule') return this.#costs.get(item.name) ?? Infinity;
    if (item.kind === 'times') return item.least === 0 ? 0 : item.least * this.#costOf(item.item);
    return Math.min(...item.ways.map((way) => way.reduce((sum, each) => sum + this.#costOf(each), 0)));
  }

  #requireRules(ways: readonly Item[][]): void {
    for (const item of ways.flat()) {
      if (item.kind === 'rule' && !this.#rules.has(item.name))
        throw new Error(`There is no rule ${item.name}.`);
      if (item.kind === 'ways') this.#requireRules(item.ways);
      if (item.kind === 'times') this.#requireRules([[item.item]]);
    }
  }
}

/** Reads the body of a rule. */
class Reader {
  #at = 0;
  readonly #body: readonly string[];

  constructor(body: string) {
    this.#body = Array.from(body);
  }

  ways(): Item[][] {
    const ways: Item[][] = [[]];
    for (;;) {
      while (this.#peek() === ' ') this.#at++;
      const next = this.#peek();
      if (next === undefined || next === ')') return ways;
      if (next === '|') {
        this.#at++;
        ways.push([]);
        continue;
      }
      const items = this.#items(next);
      const whole: Item = { kind: 'ways', ways: [items] };
      const repeated = this.#repeated(whole);
      ways.at(-1)?.push(...(repeated === whole ? items : [repeated]));
    }
  }

  #peek(): string | undefined {
    return this.#body[this.#at];
  }

  #items(next: string): Item[] {
    if (next === '"') return this.#literal();
    if (next === '[') return [this.#class()];
    if (next === '(') {
      this.#at++;
      const ways = this.ways();
      this.#at++;
      return [{ kind: 'ways', ways }];
    }
    const name = /^[\w-]+/.exec(this.#body.slice(this.#at, this.#at + 40).join(''))?.[0];
    if (name === undefined) throw new Error(`Not GBNF: ${this.#body.slice(this.#at).join('')}`);
    this.#at += name.length;
    return [{ kind: 'rule', name }];
  }

  #repeated(item: Item): Item {
    const times = /^(?:[*+?]|\{(\d+)(,?)(\d*)\})/.exec(this.#body.slice(this.#at, this.#at + 20).join(''));
    if (!times) return item;
    this.#at += times[0].length;
    const [text, from, comma, to] = times;
    const least = text === '+' ? 1 : Number(from ?? 0);
    const most =
      text === '?'
        ? 1
        : from === undefined
          ? Infinity
          : comma === ''
            ? least
            : to === ''
              ? Infinity
              : Number(to);
    if (least > most) throw new Error(`No number of times: ${text}`);
    return { kind: 'times', item, least, most };
  }

  #literal(): Item[] {
    const items: Item[] = [];
    for (this.#at++; this.#peek() !== '"';) {
      const code = this.#character();
      items.push({ kind: 'character', allows: (character) => character === code, some: [[code, code]] });
    }
    this.#at++;
    return items.length > 0 ? items : [{ kind: 'ways', ways: [[]] }];
  }

  #class(): Item {
    const ranges: [number, number][] = [];
    this.#at++;
    const negated = this.#peek() === '^';
    if (negated) this.#at++;
    while (this.#peek() !== ']') {
      const from = this.#character();
      const range = this.#peek() === '-' && this.#body[this.#at + 1] !== ']';
      if (range) this.#at++;
      ranges.push([from, range ? this.#character() : from]);
    }
    this.#at++;
    const inside = (character: number): boolean =>
      ranges.some(([from, to]) => from <= character && character <= to);
    return {
      kind: 'character',
      allows: (character) => inside(character) !== negated,
      some: negated ? [[0x61, 0x7a], [0x20, 0x21], [0x4e00, 0x4e10]] : ranges, // prettier-ignore
    };
  }

  #character(): number {
    const character = this.#body[this.#at++] ?? '';
    if (character !== '\\') return character.codePointAt(0) ?? 0;
    const kind = this.#body[this.#at++] ?? '';
    const digits = { x: 2, u: 4, U: 8 }[kind];
    if (digits === undefined) return { n: 10, r: 13, t: 9 }[kind] ?? kind.codePointAt(0) ?? 0;
    const code = parseInt(this.#body.slice(this.#at, (this.#at += digits)).join(''), 16);
    return code;
  }
}
