// The commit that a call begins with: its limits are counted, its price is held, and the log gets its row. The rule is asked again on the
// connection as it is under the lock, whose secret is the one that goes out.
import { openTurn } from '../../../core/background/turns.ts';
import { rulesChanged } from '../../../core/callers/rules-version.ts';
import { clockNow } from '../../../core/database-clock.ts';
import type { AdmittedItem, LaneEffect, LaneItem, ReadVerdict } from '../../../core/wallet/lane/lane-item.ts';
import type { Queryable, Transaction } from '../../../db/database.ts';
import { connectionMissing } from '../connections/missing.ts';
import type { Connection } from '../connections/row.ts';
import { editionOf, type RuledCall, refusalOf } from '../connections/rule.ts';
import { type Counts, findConnections, sendCounts } from '../connections/store.ts';
import { LOST_CALLS } from '../limits.ts';
import { countsAt, limitRefusal, withOneMore } from './counts.ts';
import { sendNewCall } from './store.ts';

export interface NewCall extends RuledCall {
  readonly callId: string;
  readonly connection: string;
  /** Of the connection that was looked at, and maybe approved. */
  readonly edition: string;
  /** From its commit on, when it is taken for lost. */
  readonly lostAfterMs: number;
  /** The connection as the commit found it, and the hold: filled in by the last attempt to commit. */
  readonly begun: { connection: Connection | null; holdId: string | null };
}

interface Found {
  readonly connection: Connection;
  /** With this call. */
  readonly counts: Counts;
}

type Item = LaneItem<NewCall, Found>;

export const beginCall: LaneEffect<NewCall, Found> = {
  name: 'vault.call',
  exclusiveKeys: () => [],
  read: readVerdicts,
  write,
};

async function readVerdicts(tx: Queryable, items: readonly Item[]): Promise<ReadVerdict<Found>[]> {
  const byAccount = Map.groupBy(items, ({ accountId }) => accountId);
  const [nowMs, ...found] = await Promise.all([
    clockNow(tx),
    ...[...byAccount].map(async ([accountId, of]) => {
      const names = [...new Set(of.map(({ input }) => input.connection))];
      return [accountId, await findConnections(tx, accountId, names)] as const;
    }),
  ]);
  const connections = new Map(found);
  const counted = new Map<Connection, Counts>();
  return items.map(({ accountId, input }) => {
    const connection = connections.get(accountId)?.get(input.connection);
    if (connection === undefined) return { kind: 'refuse', problem: connectionMissing(input.connection) };
    const before = counted.get(connection) ?? countsAt(connection.row, nowMs);
    const refusal = refusalOf(connection, input, nowMs) ?? limitRefusal(connection.row, before, nowMs);
    if (refusal !== null) return { kind: 'refuse', problem: refusal };
    if (editionOf(connection) !== input.edition) return { kind: 'refuse', problem: rulesChanged() };
    const counts = withOneMore(before);
    counted.set(connection, counts);
    return { kind: 'go', context: { connection, counts } };
  });
}

function write(tx: Transaction, items: readonly AdmittedItem<NewCall, Found>[], nowMs: number): string[] {
  const last = new Map<Connection, { readonly counts: Counts; readonly by: string }>();
  for (const { item, context } of items) last.set(context.connection, { counts: context.counts, by: item.input.keyId });
  for (const [connection, { counts, by }] of last) sendCounts(tx, connection, counts, { atMs: nowMs, by });
  return items.map(({ item: { accountId, input }, context: { connection }, holdId }) => {
    if (holdId === null) throw new Error('a call of the vault begins with a hold');
    const { callId, keyId, method, target, lostAfterMs } = input;
    input.begun.connection = connection;
    input.begun.holdId = holdId;
    const dueMs = nowMs + lostAfterMs;
    const row = {
      call_id: callId,
      key_id: keyId,
      connection: input.connection,
      method,
      host: target.host,
      path: target.path,
    };
    sendNewCall(tx, accountId, { ...row, hold_id: holdId }, { nowMs, dueMs });
    void openTurn(tx, accountId, LOST_CALLS, dueMs, { later: true });
    return '{}';
  });
}
