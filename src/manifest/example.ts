// References in examples: `$N.path` takes a value from the data of the N-th earlier answer (0-based).

const reference = /^\$(\d+)\.([A-Za-z0-9_.[\]]+)$/;

/** Index of the answer that `value` refers to; undefined when it is an ordinary value. */
export function referencedStep(value: unknown): number | undefined {
  const match = typeof value === 'string' ? reference.exec(value) : null;
  return match === null ? undefined : Number(match[1]);
}

/** The example with every reference replaced by a readable stand-in: `$0.message_id` becomes `MESSAGE_ID`. */
export function withStandIns<Value>(value: Value): Value {
  if (Array.isArray(value)) return value.map(withStandIns) as Value;
  if (value !== null && typeof value === 'object') {
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, withStandIns(item)])) as Value;
  }
  const match = typeof value === 'string' ? reference.exec(value) : null;
  const last = match?.[2]
    ?.split(/[.[\]]+/)
    .filter((part) => part !== '' && !/^\d+$/.test(part))
    .at(-1);
  return last === undefined ? value : (last.toUpperCase() as Value);
}
