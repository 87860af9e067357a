import { arrayFacets, objectFacets, type ObjectFacets } from './facets.ts';
import { charactersOf, Languages, type Language } from './languages.ts';
import {
  heldAt,
  joined,
  keyOf,
  PartList,
  unsupportedSchema,
  type JsonSchema,
  type Part,
  type Parts,
} from './part.ts';
import { ANY_STRING, Scalars } from './scalars.ts';
import { Structures, type Kind } from './structures.ts';

export interface ObjectShape {
  /** In the schema's order. */
  readonly named: readonly { name: string; values: Parts; needed: boolean }[];
  /** Further properties, by their keys: these with their first quote. */
  readonly others: readonly { keys: Language; values: Parts }[];
}

export interface ArrayShape {
  readonly first: readonly Parts[];
  readonly rest: Parts;
  readonly least: number;
  readonly most: number | undefined;
}

/** Keys that match these patterns and no other. */
interface KeyClass {
  readonly keys: Language;
  readonly matched: ReadonlySet<string>;
}

/** Patterns of property names: their combinations double with each. */
const MOST_PATTERNS = 5;
/** Code points of a key that the schema does not restrict: a small model would write nothing else. */
const LONGEST_KEY = 63;

/** What the values that a schema allows consist of. */
export class Shapes {
  readonly root: Parts;
  readonly #parts: PartList;
  readonly #languages = new Languages();
  readonly #scalars: Scalars;
  readonly #structures: Structures;
  readonly #never: Part;
  readonly #objects = new Map<string, ObjectShape>();
  readonly #empty = new Map<string, boolean>();

  constructor(schema: JsonSchema) {
    this.#parts = new PartList(schema);
    this.root = joined([this.#parts.root]);
    this.#never = this.#parts.of(false, '#');
    this.#scalars = new Scalars(this.#parts, this.#languages);
    this.#structures = new Structures(this.#parts, (one, other, kind) => this.#apart(one, other, kind));
  }

  scalars(parts: Parts): Language {
    return this.#scalars.of(parts);
  }

  /** The ways to write an object that are possible. */
  objects(parts: Parts): ObjectShape[] {
    const shapes = this.#structures.of(parts, 'object').map((way) => this.object(way));
    return shapes.filter((shape) => !this.#noObject(shape));
  }

  arrays(parts: Parts): ArrayShape[] {
    const shapes = this.#structures.of(parts, 'array').map((way) => this.array(way));
    return shapes.filter((shape) => !this.#noArray(shape));
  }

  /** Whether no value fits all parts. What refers back to itself is taken to have one. */
  isEmpty(parts: Parts): boolean {
    const key = keyOf(parts);
    const known = this.#empty.get(key);
    if (known !== undefined) return known;
    this.#languages.step();
    this.#empty.set(key, false);
    const empty =
      this.#scalars.isEmpty(parts) && this.objects(parts).length === 0 && this.arrays(parts).length === 0;
    this.#empty.set(key, empty);
    return empty;
  }

  /** The path of a part because of which no value fits. */
  reason(parts: Parts): string {
    const [way] = this.#structures.of(parts, 'object');
    const needed = way && this.object(way).named.find(({ values, needed }) => needed && this.isEmpty(values));
    if (needed && !needed.values.includes(this.#never)) return this.reason(needed.values);
    return parts.at(-1)?.at ?? '#';
  }

  object(parts: Parts): ObjectShape {
    const key = keyOf(parts);
    const shape = this.#objects.get(key) ?? this.#object(parts.map(objectFacets));
    this.#objects.set(key, shape);
    return shape;
  }

  #object(objects: readonly ObjectFacets[]): ObjectShape {
    const names = new Set([
      ...objects.flatMap(({ properties }) => Object.keys(properties)),
      ...objects.flatMap(({ required }) => [...required]),
    ]);
    const keys = this.#keys(objects);
    const named = [...names].map((name) => ({
      name,
      values: keys?.test(charactersOf(keyText(name))) === false ? [this.#never] : this.#named(objects, name),
      needed: objects.some(({ required }) => required.has(name)),
    }));
    return { named, others: this.#others(objects, keys, names) };
  }

  /** The keys that propertyNames allows, each as in JSON but without escapes and its last quote. */
  #keys(objects: readonly ObjectFacets[]): Language | undefined {
    const schemas = objects.flatMap(({ propertyNames: names, at }) =>
      names === undefined ? [] : [this.#parts.of(names, `${at}/propertyNames`)],
    );
    if (schemas.length === 0) return undefined;
    return this.#languages.both(this.scalars(joined(schemas)), this.#languages.matching(ANY_STRING));
  }

  #named(objects: readonly ObjectFacets[], name: string): Parts {
    const matches = ({ pattern, at }: { pattern: string; at: string }): boolean =>
      heldAt(at, () => this.#languages.containing(pattern)).test(charactersOf(name));
    return joined(objects.flatMap((object) => this.#values(object, object.patterns.filter(matches), name)));
  }

  /** The schemas for a property with this name, and of these patterns; if there is none, that of additional properties. */
  #values(
    { properties, additional, at }: ObjectFacets,
    patterns: ObjectFacets['patterns'],
    name?: string,
  ): Part[] {
    const values = patterns.map((pattern) => this.#parts.of(pattern.schema, pattern.at));
    if (name !== undefined && Object.hasOwn(properties, name))
      values.push(this.#parts.of(properties[name], `${at}/properties/${name}`));
    return values.length > 0 ? values : [this.#parts.of(additional ?? true, `${at}/additionalProperties`)];
  }

  /** Where a schema names properties, others are only written if it says something of them: a small model would make some up. */
  #others(
    objects: readonly ObjectFacets[],
    keys: Language | undefined,
    names: ReadonlySet<string>,
  ): ObjectShape['others'] {
    const all = objects.flatMap(({ patterns }) => patterns);
    const patterns = [...new Map(all.map((each) => [each.pattern, each])).values()];
    const surplus = patterns[MOST_PATTERNS];
    if (surplus) throw unsupportedSchema(surplus.at, `is one pattern of more than ${MOST_PATTERNS}`);
    const open =
      objects.some(({ additional }) => additional !== undefined) ||
      objects.every(({ properties }) => Object.keys(properties).length === 0 && patterns.length === 0);
    if (patterns.length === 0 && (!open || this.isEmpty(this.#further(objects, new Set())))) return [];
    const free = patterns.length > 0 ? ANY_STRING : `${ANY_STRING.slice(0, -1)}{0,${LONGEST_KEY}}`;
    const words = this.#languages.words([...names].map(keyText));
    let classes: KeyClass[] = [
      { keys: this.#languages.without(keys ?? this.#languages.matching(free), words), matched: new Set() },
    ];
    for (const { pattern, at } of patterns) classes = heldAt(at, () => this.#split(classes, pattern));
    return classes
      .filter(({ keys: some, matched }) => !some.isEmpty && (open || matched.size > 0))
      .map(({ keys: some, matched }) => ({ keys: some, values: this.#further(objects, matched) }))
      .filter(({ values }) => !this.isEmpty(values));
  }

  /** The values of properties without a name in the schema that match these patterns. */
  #further(objects: readonly ObjectFacets[], matched: ReadonlySet<string>): Parts {
    return joined(
      objects.flatMap((each) =>
        this.#values(
          each,
          each.patterns.filter(({ pattern }) => matched.has(pattern)),
        ),
      ),
    );
  }

  #split(classes: readonly KeyClass[], pattern: string): KeyClass[] {
    const language = this.#languages.after('"', this.#languages.containing(pattern));
    return classes.flatMap(({ keys, matched }) => [
      { keys: this.#languages.both(keys, language), matched: new Set([...matched, pattern]) },
      { keys: this.#languages.without(keys, language), matched },
    ]);
  }

  array(parts: Parts): ArrayShape {
    const arrays = parts.map(arrayFacets);
    const length = Math.max(0, ...arrays.map(({ first }) => first.length));
    const item = (i: number): Parts =>
      joined(
        arrays.map(({ first, rest, at }) =>
          i < first.length
            ? this.#parts.of(first[i], `${at}/prefixItems/${i}`)
            : this.#parts.of(rest ?? true, `${at}/items`),
        ),
      );
    // Like properties: without a word on further items, a tuple has just its own.
    const closed = length > 0 && arrays.every(({ rest }) => rest === undefined);
    const leasts = arrays.flatMap(({ least }) => least ?? []);
    const least = leasts.length === 0 && closed ? length : Math.max(0, ...leasts);
    const first = Array.from({ length }, (_, i) => item(i));
    const rest = item(length);
    const impossible = [...first, rest].findIndex((values) => this.isEmpty(values));
    const mosts = [
      ...arrays.flatMap(({ most }) => most ?? []),
      ...(closed ? [Math.max(length, least)] : []),
      ...(impossible < 0 ? [] : [impossible]),
    ];
    return { first, rest, least, most: mosts.length > 0 ? Math.min(...mosts) : undefined };
  }

  #noObject({ named }: ObjectShape): boolean {
    return named.some(({ values, needed }) => needed && this.isEmpty(values));
  }

  #noArray({ least, most }: ArrayShape): boolean {
    return most !== undefined && least > most;
  }

  /** Whether no value fits both; or the name of a property with which none does. */
  #apart(one: Parts, other: Parts, kind: Kind): boolean | string {
    const both = joined([...one, ...other]);
    if (kind === 'array') return this.#noArray(this.array(both));
    const shape = this.object(both);
    const [first, second] = [this.object(one), this.object(other)];
    if (this.#noObject(shape) || (lacks(first, second) && lacks(second, first))) return true;
    const sides = [first, second].map(({ named }) => new Set(named.map(({ name }) => name)));
    const tells = shape.named.find(
      ({ name, values }) => sides.every((names) => names.has(name)) && this.isEmpty(values),
    );
    return tells?.name ?? false;
  }
}

/** Whether an object of one shape never has a property that another one needs. */
function lacks({ named, others }: ObjectShape, { named: needed }: ObjectShape): boolean {
  const writes = (name: string): boolean =>
    named.some((each) => each.name === name) ||
    others.some(({ keys }) => keys.test(charactersOf(keyText(name))));
  return needed.some((each) => each.needed && !writes(each.name));
}

function keyText(name: string): string {
  return `"${name}`;
}
