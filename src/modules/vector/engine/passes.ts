// Evaluates a filter against one row's stored metadata.
import type { Condition, Filter } from './port.ts';

export type Order = 'gt' | 'gte' | 'lt' | 'lte';

export function passes(filter: Filter | null, metadata: unknown): boolean {
  return filter === null || filter.every((condition) => passesOne(condition, metadata));
}

function passesOne(condition: Condition, metadata: unknown): boolean {
  const has = typeof metadata === 'object' && metadata !== null && Object.hasOwn(metadata, condition.key);
  if (condition.op === 'exists') return has === condition.value;
  const stored: unknown = has ? (metadata as Record<string, unknown>)[condition.key] : undefined;
  const elements: unknown[] = Array.isArray(stored) ? stored : [stored];
  switch (condition.op) {
    case 'eq':
      return elements.includes(condition.value);
    case 'ne':
      return !elements.includes(condition.value);
    case 'in':
      return condition.values.some((value) => elements.includes(value));
  }
  const { op, value } = condition;
  return elements.some((element) => {
    if (typeof value === 'number') return typeof element === 'number' && satisfies(op, compareNumbers(element, value));
    return typeof element === 'string' && satisfies(op, Buffer.compare(Buffer.from(element), Buffer.from(value)));
  });
}

/** Unlike a difference it holds for infinities, which JSON numbers out of range become. */
export const compareNumbers = (a: number, b: number) => Number(a > b) - Number(a < b);

export function satisfies(op: Order, difference: number): boolean {
  if (op === 'gt') return difference > 0;
  if (op === 'gte') return difference >= 0;
  return op === 'lt' ? difference < 0 : difference <= 0;
}
