// A service with an account and a name server of the test's own, and how tests of domains call it.
import { type NameServer, startNameServer } from '../support/name-server.ts';
import { type Client, client, createTestAccount, startTestService, type TestService } from '../support/service.ts';

export interface DomainBench {
  readonly test: TestService;
  readonly names: NameServer;
  account(): Promise<Owner>;
  stop(): Promise<void>;
}

export interface Owner {
  readonly accountId: string;
  readonly secret: string;
  readonly call: Client;
  /** The domain as a check finds it now. */
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  verify(domain: string): Promise<any>;
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  get(domain: string): Promise<any>;
}

export async function startDomainBench(env: Record<string, string> = {}): Promise<DomainBench> {
  const names = await startNameServer();
  const test = await startTestService({ env: { DNS_RESOLVERS: names.address, ...env } });
  return {
    test,
    names,
    async account() {
      const { accountId, secret } = await createTestAccount(test.core);
      const call = client(test.url, secret);
      const data = async (method: string, path: string, body?: unknown) => {
        const reply = await call(method, path, body);
        if (reply.status !== 200) throw new Error(`${path}: ${reply.text}`);
        return reply.body.data;
      };
      return {
        accountId,
        secret,
        call,
        verify: (domain) => data('POST', '/v1/email/domain/verify', { domain }),
        get: (domain) => data('GET', `/v1/email/domain/get/${domain}`),
      };
    },
    async stop() {
      await test.stop();
      await names.stop();
    },
  };
}

export interface ShownRecord {
  readonly purpose: string;
  readonly required: boolean;
  readonly type: 'TXT' | 'MX';
  readonly name: string;
  readonly value: string;
  readonly status: string;
  readonly found: string | null;
}

/** Of an answered domain. */
export function recordOf(domain: { readonly records: readonly ShownRecord[] }, purpose: string): ShownRecord {
  const record = domain.records.find((each) => each.purpose === purpose);
  if (record === undefined) throw new Error(`the domain has no record for ${purpose}`);
  return record;
}

/** Adds the records as they are shown. */
export function publish(
  names: NameServer,
  domain: { readonly records: readonly ShownRecord[] },
  ...purposes: string[]
): void {
  for (const purpose of purposes) {
    const { type, name, value } = recordOf(domain, purpose);
    names.set(type, name, value);
  }
}
