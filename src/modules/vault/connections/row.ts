// A connection: as it is stored, as the service uses it, and as calls show it.
import { iso, isoOrNull } from '../../../lib/time.ts';
import type { Allow } from '../rule/allow.ts';
import type { Kind, Sealing } from './credential.ts';

export type StoredStatus = 'ready' | 'pending' | 'broken';
export const statuses = ['ready', 'pending', 'broken', 'expired'] as const;

export interface ConnectionRow {
  readonly account_id: string;
  readonly connection: string;
  readonly kind: Kind;
  readonly field: string;
  readonly hosts: string;
  readonly allow: string | null;
  readonly keys: string | null;
  readonly approve: string;
  readonly headers: Buffer | null;
  readonly mcp: string | null;
  readonly per_minute: number | null;
  readonly per_day: number | null;
  readonly notify_queue: string | null;
  readonly sealed: Buffer | null;
  readonly fingerprint: string | null;
  readonly status: StoredStatus;
  readonly broken_reason: string | null;
  readonly provider: string | null;
  readonly token_ends_at: number | null;
  readonly refresh_at: number | null;
  readonly refresh_number: bigint;
  readonly refresh_ends_at: number | null;
  readonly minute_at: number | null;
  readonly minute_calls: number;
  readonly day_at: number | null;
  readonly day_calls: number;
  readonly last_used_at: number | null;
  readonly last_used_by: string | null;
  readonly expires_at: number | null;
  readonly version: number;
  readonly created_at: number;
  readonly updated_at: number;
}

export const connectionColumns =
  'connection, kind, field, hosts, allow, keys, approve, headers, mcp, per_minute, per_day, notify_queue, sealed, fingerprint, status, broken_reason, ' +
  'provider, token_ends_at, refresh_at, refresh_number, refresh_ends_at, minute_at, minute_calls, day_at, day_calls, last_used_at, last_used_by, ' +
  'expires_at, version, created_at, updated_at';

/** An MCP server that a connection is relayed to. */
export interface McpServer {
  readonly path: string;
  /** Null: all. */
  readonly tools: readonly string[] | null;
}

/** Its rule, as it is asked. */
export interface Connection extends Sealing {
  readonly kind: Kind;
  readonly allow: Allow | null;
  /** Null: all with the scope. */
  readonly keys: readonly string[] | null;
  readonly approve: readonly string[];
  readonly mcp: McpServer | null;
  readonly perMinute: number | null;
  readonly perDay: number | null;
  readonly status: StoredStatus;
  readonly brokenReason: string | null;
  readonly expiresAtMs: number | null;
  readonly sealed: Buffer | null;
  readonly headers: Buffer | null;
  readonly version: number;
  readonly row: ConnectionRow;
}

export function connectionOf(row: ConnectionRow): Connection {
  return {
    accountId: row.account_id,
    connection: row.connection,
    kind: row.kind,
    field: row.field,
    hosts: JSON.parse(row.hosts),
    allow: row.allow === null ? null : JSON.parse(row.allow),
    keys: row.keys === null ? null : JSON.parse(row.keys),
    approve: JSON.parse(row.approve),
    mcp: row.mcp === null ? null : JSON.parse(row.mcp),
    perMinute: row.per_minute,
    perDay: row.per_day,
    status: row.status,
    brokenReason: row.broken_reason,
    expiresAtMs: row.expires_at,
    sealed: row.sealed,
    headers: row.headers,
    version: row.version,
    row,
  };
}

/** Connection: all but its secret. `headerNames`: of those that it adds. */
export function connectionRecord(row: ConnectionRow, nowMs: number, headerNames: readonly string[]) {
  const { hosts, allow, keys, approve, mcp } = connectionOf(row);
  const isExpired = row.expires_at !== null && row.expires_at <= nowMs;
  return {
    connection: row.connection,
    kind: row.kind,
    field: row.field === '' ? null : row.field,
    hosts: [...hosts],
    allow: allow === null ? null : allow.map(({ methods, path }) => ({ methods: [...methods], path })),
    keys: keys === null ? null : [...keys],
    approve: [...approve],
    headers: [...headerNames],
    mcp: mcp === null ? null : { path: mcp.path, tools: mcp.tools === null ? null : [...mcp.tools] },
    limits: { per_minute: row.per_minute, per_day: row.per_day },
    notify: row.notify_queue === null ? null : { queue: row.notify_queue },
    provider: row.provider,
    status: row.status === 'ready' && isExpired ? ('expired' as const) : row.status,
    broken_reason: row.broken_reason,
    fingerprint: row.fingerprint,
    last_used_at: isoOrNull(row.last_used_at),
    last_used_by: row.last_used_by,
    token_ends_at: isoOrNull(row.token_ends_at),
    expires_at: isoOrNull(row.expires_at),
    version: row.version,
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
  };
}
