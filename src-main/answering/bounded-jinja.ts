import * as jinja from '@huggingface/jinja';

/**
 * Limit on UTF-16 units of a string and items of a list that a template may create. V8 aborts the whole process, without an exception, when
 * an array grows beyond its capacity, so a time limit is not enough.
 */
const MAX_UNITS = 4 * 1024 * 1024;
const MAX_ITEMS = 1024 * 1024;

interface Value {
  value: unknown;
}

interface Environment {
  set(name: string, value: unknown): void;
}

/** The part of the package that is used: its declarations name files that Node's rules do not resolve. */
const { Environment, Interpreter } = jinja as unknown as {
  Environment: new () => Environment;
  Interpreter: new (environment: Environment) => {
    run(program: unknown): Value;
    evaluate(node: unknown, environment: Environment): Value;
  };
};

/** Rejects each value that is too large as soon as it is created, before anything else can use it. */
class BoundedInterpreter extends Interpreter {
  override evaluate(node: unknown, environment: Environment): Value {
    const result = super.evaluate(node, environment);
    const { value } = result;
    const isLarge =
      (typeof value === 'string' && value.length > MAX_UNITS) ||
      (Array.isArray(value) && value.length > MAX_ITEMS);
    if (isLarge) throw tooLarge();
    return result;
  }
}

/** Renders a chat template with the globals that transformers provides. Throws what the template raises, or when it produces too much. */
export function renderBounded({ parsed }: jinja.Template, variables: Record<string, unknown>): string {
  const environment = new Environment();
  const values = {
    ...{ true: true, True: true, false: false, False: false, none: null, None: null },
    raise_exception: raiseException,
    range,
    strftime_now: (format: string) => strftime(new Date(), format),
    ...variables,
  };
  for (const [name, value] of Object.entries(values)) environment.set(name, value);
  return String(new BoundedInterpreter(environment).run(parsed).value);
}

function raiseException(message: string): never {
  throw new Error(message);
}

/** Python's `range`, only for short ranges: it would grow before its result can be checked. */
function range(first: number, last?: number, step = 1): number[] {
  const [start, stop] = last === undefined ? [0, first] : [first, last];
  const length = Math.max(0, Math.ceil((stop - start) / step));
  if (!(length <= MAX_ITEMS)) throw tooLarge();
  return Array.from({ length }, (_, i) => start + i * step);
}

/** Python's date format codes, in English regardless of the locale: models were trained on that. */
function strftime(date: Date, format: string): string {
  const named = (options: Intl.DateTimeFormatOptions): string => date.toLocaleDateString('en-US', options);
  const two = (value: number): string => String(value).padStart(2, '0');
  const codes: Record<string, string> = {
    Y: String(date.getFullYear()),
    m: two(date.getMonth() + 1),
    d: two(date.getDate()),
    H: two(date.getHours()),
    M: two(date.getMinutes()),
    S: two(date.getSeconds()),
    b: named({ month: 'short' }),
    B: named({ month: 'long' }),
    a: named({ weekday: 'short' }),
    A: named({ weekday: 'long' }),
    '%': '%',
  };
  return format.replaceAll(/%(.)/g, (whole, code: string) => codes[code] ?? whole);
}

function tooLarge(): Error {
  return new Error('it creates a string or a list that is too large');
}
