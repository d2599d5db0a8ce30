// What searching means, as plainly as it can be said: every row is read anew for each search and compared in f64.
import type { Core } from '../../src/core/context.ts';
import type {
  Condition,
  Filter,
  Match,
  Scalar,
  SearchResult,
  VectorEngine,
} from '../../src/modules/vector/engine/port.ts';

const readRows = {
  name: 'test_reference_rows',
  text: `SELECT i.id, i.version, i.embedding, i.metadata::text AS metadata FROM vector.item i WHERE i.account_id = $1 AND i.collection_id = $2`,
};

export function referenceEngine(core: Core): VectorEngine {
  return {
    name: 'embedded',
    async search(ref, searches) {
      type Row = { id: string; version: bigint; embedding: Buffer; metadata: string | null };
      const { rows } = await core.db.query<Row>(readRows, [ref.accountId, ref.collectionId]);
      return searches.map(({ vector, topK, filter }): SearchResult => {
        const passing = rows.filter(({ metadata }) => passes(filter, metadata === null ? {} : JSON.parse(metadata)));
        const matches = passing.map(({ id, version, embedding }): Match => {
          const stored = new Float32Array(new Uint8Array(embedding).buffer);
          return { id, score: score(ref.metric, vector, stored), version: Number(version) };
        });
        matches.sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1));
        const { length } = passing;
        return {
          matches: matches.slice(0, topK),
          plan: 'exact',
          rowsMatched: length,
          rowsScanned: length,
          exact: true,
        };
      });
    },
    indexState: () => ({ state: 'ready', bytes: 0 }),
    forget: () => undefined,
    gauges: () => ({}),
    close: async () => undefined,
  };
}

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
