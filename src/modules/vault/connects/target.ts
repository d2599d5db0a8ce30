// The connection that a page is for: asked when the page is made, and again under the account's lock when a person has come back.
import type { Secrets } from '../../../core/secrets/secrets.ts';
import type { Problem } from '../../../problems/problem.ts';
import { type Credential, fingerprintOf, sealCredential, sealHeaders, tokenTimes } from '../connections/credential.ts';
import type { ConnectionRow } from '../connections/row.ts';
import { openedHeaders, UNUSED } from '../connections/set.ts';
import { problem } from '../problems.ts';
import type { ConnectRow } from './connect.ts';

const KIND = 'oauth2';

/** The rule that the page is made with; texts of JSON. */
export type ConnectRule = Pick<ConnectRow, 'connection' | 'hosts' | 'allow' | 'keys'>;

/** Null: a person may connect it. One that has been connected stays with its hosts: its secret is for them. */
export function targetRefusal(
  before: ConnectionRow | null,
  rule: Pick<ConnectRule, 'connection' | 'hosts'>,
): Problem | null {
  if (before === null) return null;
  if (before.kind !== KIND)
    return conflict(
      `The connection ${rule.connection} is of kind ${before.kind}: delete it first, or take another name.`,
    );
  if (before.status !== 'pending' && before.hosts !== rule.hosts)
    return conflict(`The connection ${rule.connection} is for other hosts: delete it first, or take another name.`);
  return null;
}

function conflict(message: string): Problem {
  return problem('STATE_CONFLICT', { param: 'connection', message });
}

/** A connection that waits for a person. */
export function pendingRow(rule: ConnectRule, provider: string, nowMs: number): Omit<ConnectionRow, 'account_id'> {
  return {
    ...UNUSED,
    ...rule,
    kind: KIND,
    field: '',
    approve: '[]',
    headers: null,
    mcp: null,
    per_minute: null,
    per_day: null,
    notify_queue: null,
    sealed: null,
    fingerprint: null,
    status: 'pending',
    broken_reason: null,
    provider,
    token_ends_at: null,
    refresh_at: null,
    expires_at: null,
    version: 1,
    created_at: nowMs,
    updated_at: nowMs,
  };
}

/** The connection with what a person has brought. Who refreshes its earlier tokens is behind by a number. */
export function connectedRow(
  secrets: Secrets,
  before: ConnectionRow,
  rule: ConnectRule,
  credential: Credential & { readonly kind: 'oauth2' },
  { provider, nowMs }: { readonly provider: string; readonly nowMs: number },
): Omit<ConnectionRow, 'account_id'> {
  const { account_id: accountId, ...row } = before;
  const sealing = { accountId, connection: row.connection, kind: KIND, field: '', hosts: JSON.parse(rule.hosts) };
  const headers = openedHeaders(secrets, before);
  return {
    ...row,
    ...rule,
    headers: Object.keys(headers).length === 0 ? null : sealHeaders(secrets, sealing, headers),
    sealed: sealCredential(secrets, sealing, credential),
    fingerprint: fingerprintOf(secrets, accountId, credential),
    status: 'ready',
    broken_reason: null,
    provider,
    ...tokenTimes(credential, nowMs),
    refresh_number: before.refresh_number + 1n,
    refresh_ends_at: null,
    version: before.version + 1,
    updated_at: nowMs,
  };
}
