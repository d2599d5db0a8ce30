// What connection.set makes of a row. Where a credential goes, and how, changes only with the secret in the call; the rest of the rule can be
// narrowed without it.

import { checkTargetHeaders } from '../../../core/outbound/target-headers.ts';
import type { Secrets } from '../../../core/secrets/secrets.ts';
import { invalidField } from '../../../problems/problem.ts';
import { SECRET_CHARACTERS_MAX } from '../limits.ts';
import { problem } from '../problems.ts';
import { type Allow, checkAllow, isAllowNarrower } from '../rule/allow.ts';
import { checkHosts } from '../rule/hosts.ts';
import { readRequestPath } from '../rule/target.ts';
import {
  beginsAt,
  type Credential,
  fingerprintOf,
  type Kind,
  openHeaders,
  readCredential,
  type SentSecret,
  sealCredential,
  sealHeaders,
  secretHeaderTexts,
  tokenTimes,
} from './credential.ts';
import { type ConnectionRow, connectionOf, type McpServer } from './row.ts';

export interface SentConnection {
  readonly connection: string;
  readonly kind: Kind;
  readonly secret?: SentSecret;
  readonly field?: string;
  readonly hosts: readonly string[];
  readonly allow?: Allow;
  readonly headers?: Readonly<Record<string, string>>;
  readonly keys?: readonly string[] | null;
  readonly mcp?: { readonly path?: string; readonly tools?: readonly string[] | null } | null;
  readonly limits?: { readonly per_minute?: number | null; readonly per_day?: number | null };
  readonly approve?: readonly string[];
  readonly notify?: { readonly queue: string } | null;
  readonly expires_at?: string | null;
}

const HEADER_FIELD = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;
const QUERY_FIELD = /^[A-Za-z0-9_.~$[\]-]{1,128}$/;
/** What a header or a bearer token may hold. */
const HEADER_TEXT = /^[!-~](?:[ -~]*[!-~])?$/;
/** Fields that say where a message goes, and where it ends. */
const RESERVED_FIELDS =
  /^(?:host|content-.*|transfer-encoding|connection|upgrade|te|trailer|expect|keep-alive|proxy-.*|accept-encoding)$/i;

/** A connection as it was sent, checked by itself. */
export interface CheckedConnection {
  readonly name: string;
  readonly kind: Kind;
  readonly field: string;
  readonly hosts: readonly string[];
  readonly allow: Allow | null;
  readonly keys: readonly string[] | null;
  readonly approve: readonly string[];
  /** Null: as they were. */
  readonly headers: Readonly<Record<string, string>> | null;
  readonly mcp: McpServer | null;
  readonly perMinute: number | null;
  readonly perDay: number | null;
  readonly notifyQueue: string | null;
  readonly expiresAtMs: number | null;
  /** Null: the call brings no secret. */
  readonly credential: Credential | null;
}

/** Throws VALIDATION_FAILED, WEBHOOK_HEADER_REJECTED. */
export function checkConnection(sent: SentConnection): CheckedConnection {
  const {
    kind,
    secret,
    allow,
    keys = null,
    approve = [],
    limits = {},
    notify = null,
    expires_at: expiresAt = null,
  } = sent;
  const field = fieldOf(sent);
  const credential = secret === undefined ? null : readCredential(kind, secret);
  if (credential !== null && (kind === 'bearer' || kind === 'header') && !HEADER_TEXT.test(secret as string))
    throw invalidField('secret', 'pattern', 'A secret that stands in a header is visible ASCII.');
  return {
    name: sent.connection,
    kind,
    field,
    hosts: checkHosts(sent.hosts, 'hosts'),
    allow: allow === undefined ? null : checkAllow(allow, 'allow'),
    keys: keys === null ? null : [...new Set(keys)].sort(),
    approve: [...new Set(approve)].sort(),
    headers: sent.headers === undefined ? null : checkHeaders(sent.headers),
    mcp: mcpOf(sent),
    perMinute: limits.per_minute ?? null,
    perDay: limits.per_day ?? null,
    notifyQueue: notify?.queue ?? null,
    expiresAtMs: expiresAt === null ? null : Date.parse(expiresAt),
    credential,
  };
}

/** Answers are searched for what they hold, too. */
function checkHeaders(sent: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const headers = checkTargetHeaders(sent, 'headers');
  if (secretHeaderTexts(headers).join('').length > SECRET_CHARACTERS_MAX) {
    const most = SECRET_CHARACTERS_MAX.toLocaleString('en');
    throw invalidField('headers', 'too_long', `Headers that hold secrets have at most ${most} characters together.`);
  }
  return headers;
}

/** Throws VALIDATION_FAILED for a path that no rule can compare. */
function mcpOf({ mcp = null }: SentConnection): McpServer | null {
  if (mcp === null) return null;
  const { path = '/mcp', tools = null } = mcp;
  const read = readRequestPath(path);
  if ('refusal' in read) throw invalidField('mcp.path', 'format', read.message);
  return { path: `${read.sentPath}${read.query}`, tools: tools === null ? null : [...new Set(tools)].sort() };
}

function fieldOf({ kind, field }: SentConnection): string {
  const isNamed = kind === 'header' || kind === 'query';
  if (!isNamed) {
    if (field !== undefined) throw invalidField('field', 'not_allowed', `A connection of kind ${kind} has no field.`);
    return '';
  }
  if (field === undefined)
    throw invalidField(
      'field',
      'required',
      `field names the ${kind === 'header' ? 'header' : 'parameter'} that holds the secret.`,
    );
  const isRight =
    kind === 'header' ? HEADER_FIELD.test(field) && !RESERVED_FIELDS.test(field) : QUERY_FIELD.test(field);
  if (!isRight)
    throw invalidField(
      'field',
      'pattern',
      `field is no name of a ${kind === 'header' ? 'header that may be set' : 'parameter'}.`,
    );
  return field;
}

/** The row that the call leaves. Throws SECRET_NEEDED. */
export function rowOf(
  secrets: Secrets,
  accountId: string,
  checked: CheckedConnection,
  before: ConnectionRow | null,
  nowMs: number,
): Omit<ConnectionRow, 'account_id'> {
  const { name, kind, field, hosts, credential } = checked;
  const sealing = { accountId, connection: name, kind, field, hosts };
  if (credential === null) requireNarrowed(secrets, checked, before);
  const headers = checked.headers ?? (before === null ? {} : openedHeaders(secrets, before));
  const sealed =
    credential === null
      ? (before as ConnectionRow)
      : freshlySealed(secrets, sealing, beginsAt(credential, nowMs), nowMs);
  return {
    ...(before ?? UNUSED),
    connection: name,
    kind,
    field,
    hosts: JSON.stringify(hosts),
    allow: checked.allow === null ? null : JSON.stringify(checked.allow),
    keys: checked.keys === null ? null : JSON.stringify(checked.keys),
    approve: JSON.stringify(checked.approve),
    headers: Object.keys(headers).length === 0 ? null : sealHeaders(secrets, sealing, headers),
    mcp: checked.mcp === null ? null : JSON.stringify(checked.mcp),
    per_minute: checked.perMinute,
    per_day: checked.perDay,
    notify_queue: checked.notifyQueue,
    sealed: sealed.sealed,
    fingerprint: sealed.fingerprint,
    status: sealed.status,
    broken_reason: sealed.broken_reason,
    provider: sealed.provider,
    token_ends_at: sealed.token_ends_at,
    refresh_at: sealed.refresh_at,
    expires_at: checked.expiresAtMs,
    version: (before?.version ?? 0) + 1,
    created_at: before?.created_at ?? nowMs,
    updated_at: nowMs,
  };
}

export const UNUSED = {
  refresh_number: 0n,
  refresh_ends_at: null,
  minute_at: null,
  minute_calls: 0,
  day_at: null,
  day_calls: 0,
  last_used_at: null,
  last_used_by: null,
};

export function openedHeaders(secrets: Secrets, row: ConnectionRow): Record<string, string> {
  return openHeaders(secrets, connectionOf(row), row.headers);
}

function freshlySealed(
  secrets: Secrets,
  sealing: Parameters<typeof sealCredential>[1],
  credential: Credential,
  nowMs: number,
) {
  return {
    sealed: sealCredential(secrets, sealing, credential),
    fingerprint: fingerprintOf(secrets, sealing.accountId, credential),
    status: 'ready' as const,
    broken_reason: null,
    provider: null,
    ...tokenTimes(credential, nowMs),
  };
}

/** What the call changes beside what narrows the rule; nothing may be. */
function requireNarrowed(secrets: Secrets, checked: CheckedConnection, before: ConnectionRow | null): void {
  if (before === null) throw secretNeeded('A new connection needs its secret.');
  const earlier = connectionOf(before);
  const wider: readonly (readonly [what: string, isWider: boolean])[] = [
    ['kind', checked.kind !== earlier.kind],
    ['field', checked.field !== earlier.field],
    ['hosts', JSON.stringify(checked.hosts) !== JSON.stringify(earlier.hosts)],
    ['headers', checked.headers !== null && !areSame(checked.headers, openedHeaders(secrets, before))],
    ['allow', !isAllowNarrower(earlier.allow, checked.allow)],
    ['keys', isWiderList(earlier.keys, checked.keys)],
    ['mcp', isWiderServer(earlier.mcp, checked.mcp)],
    ['approve', earlier.approve.some((method) => !checked.approve.includes(method))],
    ['limits.per_minute', isAbove(earlier.perMinute, checked.perMinute)],
    ['limits.per_day', isAbove(earlier.perDay, checked.perDay)],
    ['expires_at', isAbove(earlier.expiresAtMs, checked.expiresAtMs)],
  ];
  const first = wider.find(([, isWider]) => isWider)?.[0];
  if (first !== undefined)
    throw secretNeeded(`${first} changes more than it narrows, which needs the secret in the same call.`, first);
}

function areSame(a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): boolean {
  const texts = [a, b].map((headers) => JSON.stringify(Object.entries(headers).sort(([x], [y]) => (x < y ? -1 : 1))));
  return texts[0] === texts[1];
}

/** Null: all. */
function isWiderList(before: readonly string[] | null, after: readonly string[] | null): boolean {
  if (before === null) return false;
  return after === null || after.some((each) => !before.includes(each));
}

/** Null: it is relayed as none, and no tools are asked about. */
function isWiderServer(before: McpServer | null, after: McpServer | null): boolean {
  if (after === null) return before !== null && before.tools !== null;
  return before === null || before.path !== after.path || isWiderList(before.tools, after.tools);
}

/** Null: without a bound. */
function isAbove(before: number | null, after: number | null): boolean {
  if (before === null) return false;
  return after === null || after > before;
}

function secretNeeded(message: string, detail?: string) {
  return problem('SECRET_NEEDED', { param: 'secret', message, ...(detail === undefined ? {} : { detail }) });
}
