// What searching and filtering mean, as plainly as it can be said: numbers in f64, metadata as JSON.
import type { Condition, Filter, Scalar } from '../../src/modules/vector/engine/port.ts';

/** Higher is better; over stored f32. */
export function score(metric: string, a: Float32Array, b: Float32Array): number {
  let dot = 0;
  let aa = 0;
  let bb = 0;
  let apart = 0;
  a.forEach((x, i) => {
    const y = b[i] as number;
    dot += x * y;
    aa += x * x;
    bb += y * y;
    apart += (x - y) ** 2;
  });
  if (metric === 'dotproduct') return dot;
  return metric === 'euclidean' ? -Math.sqrt(apart) : dot / Math.sqrt(aa * bb);
}

type Metadata = Readonly<Record<string, unknown>>;

export function passes(filter: Filter | null, metadata: Metadata): boolean {
  return (filter ?? []).every((condition) => test(condition, metadata));
}

function test(condition: Condition, metadata: Metadata): boolean {
  const there = Object.hasOwn(metadata, condition.key);
  const value = metadata[condition.key];
  const values = Array.isArray(value) ? value : [value];
  const has = (wanted: Scalar) => there && values.includes(wanted);
  switch (condition.op) {
    case 'eq':
      return has(condition.value);
    case 'ne':
      return !has(condition.value);
    case 'in':
      return condition.values.some(has);
    case 'exists':
      return there === condition.value;
    default:
      return values.some(
        (one) => typeof one === typeof condition.value && compares(condition.op, one, condition.value),
      );
  }
}

function compares(op: 'gt' | 'gte' | 'lt' | 'lte', a: number | string, b: number | string): boolean {
  const order = typeof a === 'number' ? a - (b as number) : Buffer.compare(Buffer.from(a), Buffer.from(b as string));
  return { gt: order > 0, gte: order >= 0, lt: order < 0, lte: order <= 0 }[op];
}
