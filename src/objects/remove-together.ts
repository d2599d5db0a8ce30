// Deletes of single objects, gathered by account: while one transaction commits, those that arrive wait, and go together in the next one. Each
// is judged by itself, as if it had come alone.
import type { CallContext } from '../core/callers/context.ts';
import { type Caller, enterTogether } from '../core/callers/enter.ts';
import { withSpan } from '../core/tracing/with-span.ts';
import type { Database, Transaction } from '../db/database.ts';
import { Problem } from '../problems/problem.ts';
import type { RemovalConditions } from './conditions.ts';
import type { ObjectServices } from './door.ts';
import { removeMatching } from './remove.ts';
import { type ObjectRef, objectId } from './store.ts';
import { together } from './together.ts';

/** Of a call: who deletes. */
type Deleter = Caller & Pick<CallContext<ObjectServices>, 'core'>;

interface Deletion extends ObjectRef {
  readonly ctx: Deleter;
  readonly conditions: RemovalConditions;
}

/** Removes the object if there is one. Throws BUCKET_NOT_FOUND, OBJECT_NOT_FOUND, PRECONDITION_FAILED, and what `enter` throws. */
export async function removeObject(ctx: Deleter, deletion: Omit<Deletion, 'ctx' | 'accountId'>): Promise<void> {
  const { core, accountId } = ctx;
  const fault = await withSpan(core.tracing, 'commit', () => removeInTurn(core.db, { ...deletion, ctx, accountId }));
  if (fault !== null) throw fault;
}

const removeInTurn = together<Deletion, Problem | null>(
  (db: Database, deletions) => db.transaction((tx) => removeAll(tx, deletions), deletions[0]?.accountId),
  { byAccount: true },
);

async function removeAll(tx: Transaction, deletions: readonly Deletion[]): Promise<readonly (Problem | null)[]> {
  const [first] = deletions as readonly [Deletion];
  const calls = deletions.map(({ ctx }) => ctx);
  const { nowMs, refusals } = await enterTogether(tx, first.accountId, calls);
  const faults = new Map<Deletion, Problem | null>(deletions.map((each, i) => [each, refusals[i] ?? null]));
  const allowed = deletions.filter((each) => faults.get(each) === null);
  for (const group of groupsOf(allowed)) {
    const found = await removeGroup(tx, group, nowMs);
    for (const [i, each] of group.entries()) faults.set(each, found[i] ?? null);
  }
  return deletions.map((each) => faults.get(each) ?? null);
}

/** Of one bucket and one caller, and no key twice: the second delete of a key finds what the first one left. */
function groupsOf(deletions: readonly Deletion[]): Iterable<readonly Deletion[]> {
  const before = new Map<string, number>();
  return Map.groupBy(deletions, (each) => {
    const times = before.get(objectId(each)) ?? 0;
    before.set(objectId(each), times + 1);
    return `${times}\n${each.bucket}\n${each.ctx.principal.id}`;
  }).values();
}

async function removeGroup(
  tx: Transaction,
  group: readonly Deletion[],
  nowMs: number,
): Promise<readonly (Problem | null)[]> {
  const [{ accountId, bucket, ctx }] = group as readonly [Deletion];
  try {
    return await removeMatching(tx, { accountId, bucket, keyId: ctx.principal.id, asked: group }, nowMs);
  } catch (error) {
    // The bucket is not there: nothing was written, and the others may go on.
    if (error instanceof Problem) return group.map(() => error);
    throw error;
  }
}
