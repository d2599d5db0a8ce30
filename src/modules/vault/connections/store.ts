// SQL of connections.
import { textArray } from '../../../db/arrays.ts';
import type { Queryable, Transaction } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { timestamp } from '../../../db/types.ts';
import { resourceTable, rowSaver } from '../../../kit/resource.ts';
import { type Connection, type ConnectionRow, connectionColumns, connectionOf } from './row.ts';

const shape = { table: 'vault.connection', key: 'connection', columns: `account_id, ${connectionColumns}` };
export const connectionTable = resourceTable<ConnectionRow>(shape);
export const saveConnection = rowSaver<Omit<ConnectionRow, 'account_id'>>({ ...shape, columns: connectionColumns });

export const connectionLimits = {
  vault_connections: {
    description: 'Connections of the vault.',
    used: connectionTable.count,
    standard: 50,
    pro: 500,
    enterprise: 5_000,
  },
};

const findSome = statement(
  'vault_find_connections',
  `SELECT account_id, ${connectionColumns} FROM vault.connection WHERE account_id = $1 AND connection = ANY($2::text[])`,
);
const findByHost = statement(
  'vault_find_by_host',
  `SELECT account_id, ${connectionColumns} FROM vault.connection WHERE account_id = $1 AND hosts LIKE ANY($2::text[])`,
);
const count = statement(
  'vault_count_calls',
  `UPDATE vault.connection
      SET minute_at = $3, minute_calls = $4, day_at = $5, day_calls = $6, last_used_at = $7, last_used_by = $8
    WHERE account_id = $1 AND connection = $2`,
);

/** Those whose hosts may name the host: names, and patterns for what it lies below, with a port or without. */
export async function connectionsOfHost(
  db: Queryable,
  accountId: string,
  host: string,
): Promise<readonly Connection[]> {
  const labels = host.split('.');
  const below = labels.slice(1).map((_, i) => `*.${labels.slice(i + 1).join('.')}`);
  const names = [host, `[${host}]`, ...below].map((name) => name.replaceAll(/[\\%_]/g, '\\$&'));
  const patterns = names.flatMap((name) => [`%"${name}"%`, `%"${name}:%`]);
  const { rows } = await db.query<ConnectionRow>(findByHost, [accountId, textArray(patterns)]);
  return rows.map(connectionOf);
}

/** By name. */
export async function findConnections(
  db: Queryable,
  accountId: string,
  names: readonly string[],
): Promise<Map<string, Connection>> {
  const { rows } = await db.query<ConnectionRow>(findSome, [accountId, textArray(names)]);
  return new Map(rows.map((row) => [row.connection, connectionOf(row)]));
}

/** Calls of the minute and the day, UTC, in which the last one was made. */
export interface Counts {
  readonly minuteStart: number;
  readonly minuteCalls: number;
  readonly dayStart: number;
  readonly dayCalls: number;
}

/** Sends it without waiting. */
export function sendCounts(
  tx: Transaction,
  { accountId, connection }: Pick<Connection, 'accountId' | 'connection'>,
  counts: Counts,
  used: { readonly atMs: number; readonly by: string },
): void {
  void tx.query(count, [
    ...[accountId, connection, timestamp(counts.minuteStart), counts.minuteCalls, timestamp(counts.dayStart)],
    ...[counts.dayCalls, timestamp(used.atMs), used.by],
  ]);
}
