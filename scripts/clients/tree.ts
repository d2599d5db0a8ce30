// Calls and streams by the dots of their ids: `qm.queue.publish`. A word may be both a call and a place of others.
import type { Call, EventStream } from './shapes.ts';

type Leaf = Call | EventStream;

export interface Branch {
  readonly call: Leaf | null;
  readonly below: ReadonlyMap<string, Branch>;
}

export function treeOf(calls: readonly Leaf[], depth = 0): Branch {
  const call = calls.find(({ id }) => id.split('.').length === depth) ?? null;
  const groups = Map.groupBy(
    calls.filter((one) => one !== call),
    ({ id }) => id.split('.')[depth] as string,
  );
  return { call, below: new Map([...groups].map(([word, below]) => [word, treeOf(below, depth + 1)])) };
}
