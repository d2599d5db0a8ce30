// An account with connections to a target of the outside world, which tells what it was sent.
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { expect, vi } from 'vitest';
import { openTurn } from '../../src/core/background/turns.ts';
import { type Client, client, createTestAccount, type TestAccount, type TestService } from '../support/service.ts';

export type Service = Pick<TestService, 'core' | 'service' | 'url'>;

/** As long as a slow machine needs. */
const WAIT = { timeout: 30_000, interval: 50 };

export const TOKEN = 'tok_s3cr3t/of+the=target.9x';

export interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

type Respond = (seen: Seen, response: ServerResponse) => void;

export interface Target {
  /** `127.77.0.1:1234` */
  readonly host: string;
  readonly url: string;
  readonly seen: Seen[];
  /** Answers from now on; 200 with what came as JSON where nothing else is said. */
  respond: Respond;
  stop(): Promise<void>;
}

const echo: Respond = ({ method, url, headers, body }, response) => {
  const text = JSON.stringify({ method, url, headers, body: body.toString() });
  response.writeHead(200, { 'content-type': 'application/json' }).end(text);
};

export async function startTarget(host = '127.77.0.1'): Promise<Target> {
  const seen: Seen[] = [];
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    const came = { method: request.method ?? '', url: request.url ?? '', headers: request.headers, body };
    seen.push(came);
    target.respond(came, response);
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  server.unref();
  const { port } = server.address() as AddressInfo;
  const target: Target = {
    host: `${host}:${port}`,
    url: `http://${host}:${port}`,
    seen,
    respond: echo,
    stop() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
  return target;
}

export interface Vault {
  readonly account: TestAccount;
  readonly call: Client;
  /** Sets a connection to the target. */
  connect(fields?: Readonly<Record<string, unknown>>): Promise<void>;
}

export async function vaultAt(service: Service, target: Target, usd = 1): Promise<Vault> {
  const account = await createTestAccount(service.core, usd);
  const call = client(service.url, account.secret);
  return {
    account,
    call,
    async connect(fields = {}) {
      const all = { connection: 'forge', kind: 'bearer', secret: TOKEN, hosts: [target.host], ...fields };
      const { body } = await call('PUT', '/v1/vault/connection/set', all);
      if (body.ok !== true) throw new Error(JSON.stringify(body));
    },
  };
}

export async function balanceOf({ call }: Vault): Promise<number> {
  return (await call('GET', '/v1/account/balance')).body.data.balance_usd;
}

/** Has what the process that made a call left undone seen to, as later another process would. */
export async function endLostCalls({ core }: Service, { account: { accountId } }: Vault): Promise<void> {
  const overdue = 'UPDATE vault.call SET due_at = core.clock_now() WHERE account_id = $1 AND due_at IS NOT NULL';
  await core.db.transaction(async (tx) => {
    await tx.query({ name: '', text: overdue }, [accountId]);
    await openTurn(tx, accountId, 'vault.lost_calls', Date.now());
  });
  const open = 'SELECT count(*)::int AS open FROM vault.call WHERE account_id = $1 AND due_at IS NOT NULL';
  await vi.waitFor(async () => {
    const { rows } = await core.db.query<{ open: number }>({ name: '', text: open }, [accountId]);
    expect(rows[0]?.open).toBe(0);
  }, WAIT);
}

/** The calls of the account, once so many have ended. */
export async function callsOf({ call }: Vault, ended: number): Promise<readonly Record<string, unknown>[]> {
  return vi.waitFor(async () => {
    const { items } = (await call('GET', '/v1/vault/calls')).body.data;
    expect(items.filter(({ latency_ms: ms }: { latency_ms: number | null }) => ms !== null).length).toBe(ended);
    return items;
  }, WAIT);
}
