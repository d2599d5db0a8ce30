// A page on which a person connects an account at a provider: its row, and the tokens of its way to the provider and back. The provider is kept as
// it was when the page was made, encrypted for this page: what is changed later gets nothing.
import type { Secrets } from '../../../core/secrets/secrets.ts';
import { SignedTokens } from '../../../core/secrets/signed-token.ts';
import { resourceTable, rowSaver } from '../../../kit/resource.ts';
import type { AuthorizationChecks } from '../../../vendors/oauth/authorization.ts';
import type { TokenSource } from '../connections/credential.ts';
import { ATTEMPT_MS } from '../limits.ts';

export interface ConnectRow {
  readonly connect_id: string;
  readonly starter_id: string;
  readonly connection: string;
  readonly provider: string;
  readonly hosts: string;
  readonly allow: string | null;
  readonly keys: string | null;
  readonly plan: Buffer;
  readonly used_at: number | null;
  readonly created_at: number;
  readonly expires_at: number;
}

const shape = {
  table: 'vault.connect',
  key: 'connect_id',
  columns: 'connect_id, starter_id, connection, provider, hosts, allow, keys, plan, used_at, created_at, expires_at',
};
export const connectTable = resourceTable<ConnectRow>(shape);
export const saveConnect = rowSaver<ConnectRow>(shape);

/** Which page, of which account. */
export interface ConnectName {
  readonly accountId: string;
  readonly connectId: string;
}

/** The provider as it was. */
export interface ConnectPlan {
  readonly issuer: string | null;
  readonly namesItself: boolean;
  readonly authorizationUrl: string;
  readonly source: TokenSource;
}

const PLAN = 'vault-connect';

export function sealPlan(secrets: Secrets, name: ConnectName, plan: ConnectPlan): Buffer {
  return secrets.encrypt(PLAN, saltOf(name), JSON.stringify(plan));
}

/** Throws where the row is not the one that was sealed. */
export function openPlan(secrets: Secrets, name: ConnectName, sealed: Buffer): ConnectPlan {
  return JSON.parse(secrets.decrypt(PLAN, saltOf(name), sealed));
}

function saltOf({ accountId, connectId }: ConnectName): string {
  return JSON.stringify([accountId, connectId]);
}

export const CONNECT_PATH = '/connect/{token}';

export function connectUrl({ secrets, baseUrl }: { secrets: Secrets; baseUrl: string }, name: ConnectName): string {
  return `${baseUrl}${CONNECT_PATH.replace('{token}', tokensOf(secrets).write('page', [name.accountId, name.connectId]))}`;
}

/** Null: it is none of ours. */
export function readPageToken(secrets: Secrets, token: string): ConnectName | null {
  return nameIn(tokensOf(secrets).read('page', token));
}

/** `attemptId`: one way to the provider and back. */
export function stateToken(secrets: Secrets, { accountId, connectId }: ConnectName, attemptId: string): string {
  return tokensOf(secrets).write('state', [accountId, connectId, attemptId]);
}

/** Null: it is none of ours. */
export function readState(secrets: Secrets, state: string): ConnectName | null {
  return nameIn(tokensOf(secrets).read('state', state));
}

function nameIn(fields: readonly (string | number | null)[] | null): ConnectName | null {
  if (fields === null) return null;
  const [accountId, connectId] = fields as readonly [string, string];
  return { accountId, connectId };
}

function tokensOf(secrets: Secrets): SignedTokens {
  return new SignedTokens(secrets, 'vault-connects');
}

// The cookie of an attempt is encrypted for its state: the browser that was sent away is the only one that comes back (RFC 9700, section 2.1).

const ATTEMPT = 'vault-connect-attempt';
const COOKIE_TEXT = /^[0-9A-Za-z_-]{40,2000}$/;

/** One of each page, so that two pages in one browser do not end each other. */
export function attemptCookieName({ connectId }: ConnectName): string {
  return `qm_connect_${connectId}`;
}

export function attemptCookie(secrets: Secrets, state: string, checks: AuthorizationChecks, nowMs: number): string {
  return secrets
    .encrypt(ATTEMPT, state, JSON.stringify({ ...checks, untilMs: nowMs + ATTEMPT_MS }))
    .toString('base64url');
}

/** Null: this browser has not begun with this state, or too long ago. */
export function readAttempt(
  secrets: Secrets,
  state: string,
  cookie: string | null,
  nowMs: number,
): AuthorizationChecks | null {
  if (cookie === null || !COOKIE_TEXT.test(cookie)) return null;
  try {
    const attempt = JSON.parse(secrets.decrypt(ATTEMPT, state, Buffer.from(cookie, 'base64url')));
    return attempt.untilMs > nowMs ? attempt : null;
  } catch {
    // Of another attempt, or made up.
    return null;
  }
}
