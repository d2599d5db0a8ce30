// Bodies as Stripe takes them: form fields with brackets for what stands within, as in `line_items[0][price_data][currency]=usd`.
export type Fields = { [name: string]: Value };
type Value = string | Fields | Value[];

export function readForm(text: string): Fields {
  const fields: Fields = {};
  for (const [name, value] of new URLSearchParams(text)) putAt(fields, pathOf(name), value);
  return withLists(fields) as Fields;
}

function pathOf(name: string): string[] {
  return name.split('[').map((part) => part.replace(/\]$/, ''));
}

function putAt(fields: Fields, [first = '', ...rest]: string[], value: string): void {
  if (rest.length === 0) {
    fields[first] = value;
    return;
  }
  const inner = (fields[first] ?? {}) as Fields;
  fields[first] = inner;
  const next = rest[0] === '' ? [String(Object.keys(inner).length), ...rest.slice(1)] : rest;
  putAt(inner, next, value);
}

/** Objects whose names are 0, 1, 2 … are lists. */
function withLists(value: Value): Value {
  if (typeof value === 'string' || Array.isArray(value)) return value;
  const entries = Object.entries(value).map(([name, inner]) => [name, withLists(inner)] as const);
  const isList = entries.length > 0 && entries.every(([name], i) => name === String(i));
  return isList ? entries.map(([, inner]) => inner) : Object.fromEntries(entries);
}
