interface GuardedCall {
  name: unknown;
  arguments: unknown;
}

/** Writes the calls of a message as the model does. */
export type CallWriter = (calls: readonly GuardedCall[]) => string;

/** How a model writes calls whose template declares tools, but drops the calls of a conversation: Granite 3, LFM2. */
export function callWriterOf(template: string): CallWriter | undefined {
  if (/<\|tool_(?:call|list)_start\|>|List of tools: \[/.test(template))
    return (calls) => `<|tool_call_start|>[${calls.map(pythonCall).join(', ')}]<|tool_call_end|>`;
  if (template.includes('<|tool_call|>'))
    return (calls) => `<|tool_call|>[${calls.map(jsonCall).join(', ')}]`;
  return undefined;
}

function jsonCall({ name, arguments: given }: GuardedCall): string {
  return literal({ name, arguments: given });
}

function pythonCall({ name, arguments: given }: GuardedCall): string {
  const pairs = Object.entries(given as object).map(([key, value]) => `${key}=${literal(value, PYTHON)}`);
  return `${String(name)}(${pairs.join(', ')})`;
}

const PYTHON: Readonly<Record<string, string>> = { true: 'True', false: 'False', null: 'None' };

/** A value as JSON with spaces, which is Python's notation as well, but for the constants. */
function literal(value: unknown, constants: Readonly<Record<string, string>> = {}): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((item) => literal(item, constants)).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return constants[String(value)] ?? String(value);
  const pairs = Object.entries(value).map(
    ([key, item]) => `${JSON.stringify(key)}: ${literal(item, constants)}`,
  );
  return `{${pairs.join(', ')}}`;
}
