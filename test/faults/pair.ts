// Two processes of the service on one database, and calls over connections that stay open.

import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Secrets } from '../../src/core/secrets/secrets.ts';
import { Database } from '../../src/db/database.ts';
import type { Connection } from '../../src/db/embedded/index.ts';
import type { Services } from '../../src/kit/services.ts';
import { createTestDatabase } from '../support/database.ts';
import { createPlace, type ServiceProcess, startProcess } from '../support/process.ts';
import { createTestAccount, SECRETS_KEY, type TestAccount } from '../support/service.ts';

export interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: answers of several capabilities
  readonly body: any;
}

export type Call = (method: string, path: string, body?: object) => Promise<Answer>;

export interface Pair {
  readonly services: readonly [ServiceProcess, ServiceProcess];
  readonly db: Database;
  readonly connection: Connection;
  /** An account with `usd` of credit, and a caller with its key for each process. */
  account(usd: number): Promise<TestAccount & { readonly callers: readonly [Call, Call] }>;
  callers(secret: string): readonly [Call, Call];
  stop(): Promise<void>;
}

/** `settings`: of both. */
export async function startPair(settings: Readonly<Record<string, string>> = {}): Promise<Pair> {
  const database = await createTestDatabase();
  const env = { DATABASE_URL: database.url, SECRETS_KEY, ...settings };
  const places = [await createPlace(env), await createPlace(env)] as const;
  const services = [await startProcess(places[0]), await startProcess(places[1])] as const;
  const db = new Database({ connection: database.connection, connections: 4, hotConnections: 1 });
  const agent = new Agent({ keepAlive: true, maxSockets: 512 });
  const callers = (secret: string) =>
    [caller(agent, services[0].url, secret), caller(agent, services[1].url, secret)] as const;
  return {
    services,
    db,
    connection: database.connection,
    callers,
    async account(usd) {
      const account = await createTestAccount({ db, secrets: new Secrets(SECRETS_KEY) } as Services, usd);
      return { ...account, callers: callers(account.secret) };
    },
    async stop() {
      agent.destroy();
      await db.end();
      await Promise.all(places.map((place) => place.remove()));
      await database.drop();
    },
  };
}

/** Refusals that say that nothing was done and that a second later it may be: so many calls on a busy machine get some. */
const TRY_AGAIN = new Set(['OVERLOADED', 'CONCURRENCY_LIMITED', 'SERVICE_UNAVAILABLE']);
const TRIES_MAX = 30;

/** Calls again when told to. */
function caller(agent: Agent, url: string, secret: string): Call {
  const once = callerOnce(agent, url, secret);
  return async (method, path, body) => {
    for (let tries = 1; ; tries += 1) {
      const answer = await once(method, path, body);
      if (answer.status === 200 || !TRY_AGAIN.has(answer.body.error.code) || tries === TRIES_MAX) return answer;
      await sleep(answer.body.error.retry_after_ms);
    }
  };
}

/** `fetch` would spend most of the test's processor time. */
function callerOnce(agent: Agent, url: string, secret: string): Call {
  return (method, path, body) =>
    new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${secret}`, ...(body && { 'content-type': 'application/json' }) };
      const sent = request(url + path, { method, agent, headers }, (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => {
          text += chunk;
        });
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) }));
        response.on('error', reject);
      });
      sent.on('error', reject);
      sent.end(body && JSON.stringify(body));
    });
}

/** Runs `count` calls at once, every second one on the other process. */
export function parallel(
  callers: readonly [Call, Call],
  count: number,
  act: (call: Call, n: number) => Promise<Answer>,
): Promise<Answer[]> {
  return Promise.all(Array.from({ length: count }, (_, n) => act(callers[n % 2] as Call, n)));
}

/** How often each status, or error code, was answered. */
export function tally(answers: readonly Answer[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status, body } of answers) {
    const name = status === 200 ? 'ok' : body.error.code;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}
