// Connections by OAuth in tests: made by a call or by a person at a page, and called over several services of one database.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { client, type Reply, type TestService } from '../support/service.ts';
import type { Target, Vault } from './harness.ts';
import { CLIENT, type OAuthServer } from './oauth-server.ts';

/** As it was set by a call, with a token that has just been got. */
export async function connectOAuth(
  vault: Vault,
  server: OAuthServer,
  fields: Readonly<Record<string, unknown>> = {},
): Promise<{ readonly access: string; readonly refresh: string }> {
  const pair = server.issue();
  const secret = {
    access_token: pair.access,
    refresh_token: pair.refresh,
    expires_in: server.expiresIn,
    token_url: server.tokenUrl,
    client_id: CLIENT.id,
    client_secret: CLIENT.secret,
  };
  await vault.connect({ kind: 'oauth2', secret, ...fields });
  return pair;
}

/** A call by each of `callers`, in turns over the services, at once. Who is told that the machine is busy calls again. */
export function callTogether(
  services: readonly Pick<TestService, 'url'>[],
  { account }: Vault,
  target: Target,
  callers: number,
): Promise<Reply[]> {
  const clients = services.map(({ url }) => client(url, account.secret));
  return Promise.all(
    Array.from({ length: callers }, async (_, i) => {
      const call = clients[i % clients.length] as (typeof clients)[number];
      for (;;) {
        const reply = await call('POST', '/v1/vault/call', { connection: 'forge', url: `${target.url}/x` });
        if (reply.body?.error?.code !== 'OVERLOADED') return reply;
        await sleep(reply.body.error.retry_after_ms);
      }
    }),
  );
}

/** Which they are, where they differ from 200. */
export function failuresOf(replies: readonly Reply[]): unknown[] {
  return replies.filter(({ status }) => status !== 200).map(({ status, body }) => [status, body?.error ?? null]);
}

export function bearersOf(target: Target): string[] {
  return [...new Set(target.seen.map(({ headers }) => String(headers.authorization).replace('Bearer ', '')))];
}

export async function statusOf({ call }: Vault, connection = 'forge') {
  const { status, body } = await call('GET', `/v1/vault/connection/get/${connection}`);
  expect(status).toBe(200);
  return body.data;
}

const endNow = {
  name: '',
  text: `UPDATE vault.connection SET token_ends_at = core.clock_now(), refresh_at = core.clock_now() WHERE account_id = $1`,
};

/** Its access tokens end, without a clock that is moved. */
export async function endToken({ core }: Pick<TestService, 'core'>, { account }: Vault): Promise<void> {
  await core.db.query(endNow, [account.accountId]);
}
