import { attributeOf, itemOf } from './attributes.ts';
import { filter } from './filters.ts';
import { formatted } from './methods.ts';
import type { CallNode, FilterNode, Node, Program } from './nodes.ts';
import { test } from './tests.ts';
import {
  Args,
  asNumber,
  asText,
  bounded,
  compare,
  contains,
  equal,
  itemsOf,
  Namespace,
  requireItems,
  requireUnits,
  textOf,
  truth,
  type Callable,
  type Value,
} from './values.ts';

/** The variables of a template, loop or macro, within those around it. */
class Scope {
  readonly #around: Scope | undefined;
  readonly #variables: Map<string, Value>;

  constructor(around: Scope | undefined, variables: Iterable<[string, Value]> = []) {
    this.#around = around;
    this.#variables = new Map(variables);
  }

  get(name: string): Value {
    return this.#variables.has(name) ? this.#variables.get(name) : this.#around?.get(name);
  }

  set(name: string, value: Value): void {
    this.#variables.set(name, value);
  }
}

/** Text that is being written. */
class Output {
  text = '';

  write(text: string): void {
    this.text = bounded(this.text + text);
  }
}

/** What `break` and `continue` throw. */
class LoopExit extends Error {
  readonly ends: boolean;

  constructor(ends: boolean) {
    super('break or continue outside of a loop');
    this.ends = ends;
  }
}

/** The text of a parsed template. Throws what the template raises, and where jinja2 would. */
export function interpret(program: Program, variables: Record<string, Value>): string {
  return blockText(program.body, new Scope(undefined, Object.entries(variables)));
}

function blockText(body: readonly Node[], scope: Scope): string {
  const out = new Output();
  runAll(body, scope, out);
  return out.text;
}

function runAll(body: readonly Node[], scope: Scope, out: Output): void {
  for (const node of body) run(node, scope, out);
}

/** Executes a statement, or writes the value of an expression. */
function run(node: Node, scope: Scope, out: Output): void {
  switch (node.type) {
    case 'Comment':
      return;
    case 'If':
      return runAll(truth(valueOf(node.test, scope)) ? node.body : node.alternate, scope, out);
    case 'For':
      return runLoop(node, scope, out);
    case 'Break':
    case 'Continue':
      throw new LoopExit(node.type === 'Break');
    case 'Set':
      if (!node.value) return assignBlock(node.assignee, blockText(node.body, scope), scope);
      return assign(node.assignee, valueOf(node.value, scope), scope);
    case 'Macro':
      return scope.set(node.name.value, macro(node.args, node.body, scope));
    case 'CallStatement': {
      const args = argsOf(node.call, scope);
      const caller = macro(node.callerArgs ?? [], node.body, scope);
      const given = new Args(args.list, new Map([...args.named, ['caller', caller]]));
      return out.write(textOf(call(valueOf(node.call.callee, scope), given)));
    }
    case 'FilterStatement':
      return out.write(textOf(filtered(blockText(node.body, scope), node.filter, scope)));
    default:
      return out.write(textOf(valueOf(node, scope)));
  }
}

function runLoop(node: Node & { type: 'For' }, scope: Scope, out: Output): void {
  const { iterable, loopvar, body, defaultBlock } = node;
  const isSelected = iterable.type === 'SelectExpression';
  let items = itemsOf(valueOf(isSelected ? iterable.lhs : iterable, scope));
  if (isSelected) {
    items = items.filter((item) => {
      const inner = new Scope(scope);
      assign(loopvar, item, inner);
      return truth(valueOf(iterable.test, inner));
    });
  }
  let isDone = false;
  let changed: Value[] | undefined;
  const hasChanged: Callable = ({ list }) => {
    const isNew = changed === undefined || !equal(changed, [...list]);
    changed = [...list];
    return isNew;
  };
  for (const [i, item] of items.entries()) {
    const inner = new Scope(scope, [['loop', loopOf(items, i, hasChanged)]]);
    assign(loopvar, item, inner);
    try {
      runAll(body, inner, out);
      isDone = true;
    } catch (error) {
      if (!(error instanceof LoopExit)) throw error;
      if (error.ends) break;
    }
  }
  // As in jinja2, a body that `break` or `continue` left does not count.
  if (!isDone) runAll(defaultBlock, new Scope(scope), out);
}

function loopOf(items: readonly Value[], i: number, changed: Callable): Namespace {
  return new Namespace(
    Object.entries({
      index: i + 1,
      index0: i,
      revindex: items.length - i,
      revindex0: items.length - i - 1,
      first: i === 0,
      last: i === items.length - 1,
      length: items.length,
      previtem: i > 0 ? items[i - 1] : undefined,
      nextitem: items[i + 1],
      cycle: ({ list }: Args) => list[i % list.length],
      changed,
    }),
  );
}

/** `{% set name | filter %}text{% endset %}`: the filters apply to the text, the first one first. */
function assignBlock(target: Node, text: string, scope: Scope): void {
  const filters: FilterNode[] = [];
  let name = target;
  for (; name.type === 'FilterExpression'; name = name.operand) filters.unshift(name.filter);
  const value = filters.reduce<Value>((before, each) => filtered(before, each, scope), text);
  assign(name, value, scope);
}

function assign(target: Node, value: Value, scope: Scope): void {
  if (target.type === 'Identifier') return scope.set(target.value, value);
  if (target.type === 'TupleLiteral') {
    const items = itemsOf(value);
    if (items.length !== target.value.length) throw new Error('too few or too many values to unpack');
    return target.value.forEach((each, i) => assign(each, items[i], scope));
  }
  const space = target.type === 'MemberExpression' ? valueOf(target.object, scope) : undefined;
  if (
    !(space instanceof Namespace) ||
    target.type !== 'MemberExpression' ||
    target.property.type !== 'Identifier'
  )
    throw new Error('cannot assign attribute on non-namespace object');
  space.attributes.set(target.property.value, value);
}

/** A macro, or the body of a `call` block. */
function macro(parameters: readonly Node[], body: readonly Node[], around: Scope): Callable {
  return ({ list, named }) => {
    const scope = new Scope(around, [
      ['varargs', list.slice(parameters.length)],
      ['kwargs', new Map(named)],
      ['caller', named.get('caller')],
    ]);
    for (const [i, parameter] of parameters.entries()) {
      const isKeyword = parameter.type === 'KeywordArgumentExpression';
      const name = isKeyword ? parameter.key : parameter;
      if (name.type !== 'Identifier') throw new Error('a parameter of a macro needs a name');
      const isGiven = i < list.length || named.has(name.value);
      const value = i < list.length ? list[i] : named.get(name.value);
      scope.set(name.value, isGiven || !isKeyword ? value : valueOf(parameter.value, scope));
    }
    return blockText(body, scope);
  };
}

function valueOf(node: Node, scope: Scope): Value {
  switch (node.type) {
    case 'Identifier':
      return scope.get(node.value);
    case 'StringLiteral':
    case 'IntegerLiteral':
    case 'FloatLiteral':
      return node.value;
    case 'ArrayLiteral':
    case 'TupleLiteral':
      return node.value.map((each) => valueOf(each, scope));
    case 'ObjectLiteral':
      return new Map([...node.value].map(([key, value]) => [valueOf(key, scope), valueOf(value, scope)]));
    case 'MemberExpression':
      return memberOf(node, scope);
    case 'CallExpression': {
      const args = argsOf(node, scope);
      return bounded(call(valueOf(node.callee, scope), args));
    }
    case 'BinaryExpression':
      return binary(node, scope);
    case 'UnaryExpression': {
      const argument = valueOf(node.argument, scope);
      if (node.operator.value === 'not') return !truth(argument);
      return node.operator.value === '-' ? -asNumber(argument) : asNumber(argument);
    }
    case 'FilterExpression':
      return filtered(valueOf(node.operand, scope), node.filter, scope);
    case 'TestExpression':
      return test(node.test.value, valueOf(node.operand, scope)) !== node.negate;
    case 'SelectExpression':
      return truth(valueOf(node.test, scope)) ? valueOf(node.lhs, scope) : undefined;
    case 'Ternary':
      return valueOf(truth(valueOf(node.condition, scope)) ? node.trueExpr : node.falseExpr, scope);
    default:
      throw new Error(`${node.type} is not supported`);
  }
}

function filtered(value: Value, node: FilterNode, scope: Scope): Value {
  if (node.type === 'Identifier') return bounded(filter(node.value, value));
  if (node.callee.type !== 'Identifier') throw new Error('a filter needs a name');
  return bounded(filter(node.callee.value, value, argsOf(node, scope)));
}

function argsOf({ args }: CallNode, scope: Scope): Args {
  const list: Value[] = [];
  const named = new Map<string, Value>();
  for (const node of args) {
    if (node.type === 'SpreadExpression') list.push(...itemsOf(valueOf(node.argument, scope)));
    else if (node.type === 'KeywordArgumentExpression') named.set(node.key.value, valueOf(node.value, scope));
    else if (node.type === 'KeywordSpreadExpression') {
      const more = valueOf(node.argument, scope);
      for (const key of itemsOf(more)) named.set(asText(key), itemOf(more, key));
    } else list.push(valueOf(node, scope));
  }
  return new Args(list, named);
}

function call(callee: Value, args: Args): Value {
  if (typeof callee !== 'function') throw new TypeError('what is called is not a function');
  return callee(args);
}

function memberOf(node: Node & { type: 'MemberExpression' }, scope: Scope): Value {
  const { property, computed } = node;
  const object = valueOf(node.object, scope);
  if (property.type === 'SliceExpression') return sliceOf(object, property, scope);
  if (computed) return itemOf(object, valueOf(property, scope));
  if (property.type !== 'Identifier' && property.type !== 'IntegerLiteral')
    throw new Error('an attribute needs a name');
  return attributeOf(object, property.value);
}

function sliceOf(object: Value, slice: Node & { type: 'SliceExpression' }, scope: Scope): Value {
  const items = itemsOf(object);
  const at = (node: Node | undefined): number | undefined => {
    const value = node && valueOf(node, scope);
    return value === undefined || value === null ? undefined : asNumber(value);
  };
  const step = at(slice.step) ?? 1;
  if (step === 0) throw new Error('slice step cannot be zero');
  const clamp = (index: number): number => {
    const from = index < 0 ? index + items.length : index;
    return Math.max(step > 0 ? 0 : -1, Math.min(from, step > 0 ? items.length : items.length - 1));
  };
  const [start, stop] = [at(slice.start), at(slice.stop)];
  const from = start === undefined ? (step > 0 ? 0 : items.length - 1) : clamp(start);
  const to = stop === undefined ? (step > 0 ? items.length : -1) : clamp(stop);
  const found: Value[] = [];
  for (let i = from; step > 0 ? i < to : i > to; i += step) found.push(items[i]);
  return bounded(typeof object === 'string' ? found.map(asText).join('') : found);
}

function binary({ operator, left, right }: Node & { type: 'BinaryExpression' }, scope: Scope): Value {
  const a = valueOf(left, scope);
  if (operator.value === 'and') return truth(a) ? valueOf(right, scope) : a;
  if (operator.value === 'or') return truth(a) ? a : valueOf(right, scope);
  const b = valueOf(right, scope);
  switch (operator.value) {
    case '==':
      return equal(a, b);
    case '!=':
      return !equal(a, b);
    case 'in':
      return contains(b, a);
    case 'not in':
      return !contains(b, a);
    case '<':
      return compare(a, b) < 0;
    case '<=':
      return compare(a, b) <= 0;
    case '>':
      return compare(a, b) > 0;
    case '>=':
      return compare(a, b) >= 0;
    case '~':
      return bounded(textOf(a) + textOf(b));
    default:
      return arithmetic(operator.value, a, b);
  }
}

function arithmetic(operator: string, a: Value, b: Value): Value {
  if (operator === '+' && typeof a === 'string') return bounded(a + asText(b));
  if (operator === '+' && Array.isArray(a) && Array.isArray(b)) {
    requireItems(a.length + b.length);
    return [...a, ...b];
  }
  if (operator === '*' && typeof b === 'number' && (typeof a === 'string' || Array.isArray(a)))
    return repeated(a, b);
  if (operator === '%' && typeof a === 'string') return formatted(a, Array.isArray(b) ? b : [b]);
  const [x, y] = [asNumber(a), asNumber(b)];
  if (y === 0 && ['/', '//', '%'].includes(operator)) throw new Error('division by zero');
  switch (operator) {
    case '+':
      return x + y;
    case '-':
      return x - y;
    case '*':
      return x * y;
    case '/':
      return x / y;
    case '//':
      return Math.floor(x / y);
    case '%':
      return x - y * Math.floor(x / y);
    case '**':
      return x ** y;
    default:
      throw new Error(`unknown operator ${operator}`);
  }
}

function repeated(value: string | Value[], times: number): Value {
  const count = Math.max(0, Math.floor(times));
  if (typeof value === 'string') {
    requireUnits(value.length * count);
    return value.repeat(count);
  }
  requireItems(value.length * count);
  return Array.from({ length: value.length * count }, (_, i) => value[i % value.length]);
}
