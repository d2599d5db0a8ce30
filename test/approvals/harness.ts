// An account with an owner who approves, and a key that rules bind.
import { expect } from 'vitest';
import type { Principal } from '../../src/core/callers/principal.ts';
import { invoke } from '../../src/gateway/invoke.ts';
import type { Role } from '../../src/people/roles.ts';
import { sessionCredential } from '../../src/people/sessions/principal.ts';
import { findSession } from '../../src/people/sessions/sessions.ts';
import { personSession } from '../support/console.ts';
import {
  type Client,
  client,
  createTestAccount,
  type Reply,
  type TestAccount,
  type TestService,
} from '../support/service.ts';

export type Service = Pick<TestService, 'core' | 'service' | 'url'>;

export interface Person {
  readonly personId: string;
  readonly email: string;
  /** The token of the session. */
  readonly token: string;
  /** Calls a capability as the person. */
  call(capability: string, input: Readonly<Record<string, unknown>>): Promise<Pick<Reply, 'status' | 'body'>>;
}

export interface Bound {
  readonly account: TestAccount;
  /** With a key that no rule binds. */
  readonly call: Client;
  readonly owner: Person;
  readonly keyId: string;
  readonly secret: string;
  /** With the key that rules bind. */
  readonly agent: Client;
  /** Sets a rule that binds the agent alone. */
  rule(fields: Readonly<Record<string, unknown>>): Promise<void>;
}

let persons = 0;

export async function boundAccount(service: Service, usd = 100): Promise<Bound> {
  const account = await createTestAccount(service.core, usd);
  const call = client(service.url, account.secret);
  const owner = await personOf(service, account.accountId, 'owner');
  const { body } = await call('POST', '/v1/account/keys/create', { name: 'agent' });
  const { key_id: keyId, secret } = body.data;
  return {
    account,
    call,
    owner,
    keyId,
    secret,
    agent: client(service.url, secret),
    async rule(fields) {
      const reply = await call('PUT', '/v1/account/approvals/rule/asks', { keys: [keyId], ...fields });
      expect(reply.body).toMatchObject({ ok: true });
    },
  };
}

export async function personOf(service: Service, accountId: string, role: Role): Promise<Person> {
  persons += 1;
  const email = `person${persons}-${accountId.slice(-6).toLowerCase()}@example.org`;
  const token = await personSession(service.core, { accountId, email, name: `Person ${persons}`, role });
  const principal = await principalBy(service, token);
  return {
    personId: principal.id,
    email,
    token,
    async call(capability, input) {
      const { gateway } = service.service;
      const endpoint = gateway.endpoints.get(capability);
      if (endpoint === undefined) throw new Error(`there is no capability ${capability}`);
      const { signal } = new AbortController();
      const made = { endpoint, principal, input, idempotencyKey: null, signal, entryForm: 'console' } as const;
      const { status, envelope } = await invoke(gateway, made);
      return { status, body: JSON.parse(envelope) };
    },
  };
}

async function principalBy({ core }: Service, token: string): Promise<Principal> {
  const found = await findSession(core.db, token);
  if (found === null) throw new Error('there is no such session');
  const principal = await sessionCredential(found.session).find(core);
  if (typeof principal === 'string') throw new Error(`the session stands for nobody: ${principal}`);
  return principal;
}

/** The id of the approval that the reply says the call waits for. */
export function waitingFor({ status, body }: Pick<Reply, 'status' | 'body'>): string {
  expect([status, body.error?.code]).toEqual([403, 'APPROVAL_REQUIRED']);
  expect(body.error).toMatchObject({ retryable: true, approval: { status: 'pending' } });
  return body.error.approval.approval_id;
}

export async function approve(person: Person, approvalId: string, more: Readonly<Record<string, unknown>> = {}) {
  const reply = await person.call('account.approvals.decide', {
    approval_id: approvalId,
    decision: 'approve',
    ...more,
  });
  expect(reply.body).toMatchObject({ ok: true });
}
