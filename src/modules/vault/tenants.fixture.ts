// Tenant-isolation fixture of the vault, for the contract tests: creates connections and calls, and lists calls of another account that name them.
import { statement } from '../../db/statement.ts';
import type { Tenant, TenantFixture } from '../../kit/tenant-fixture.ts';

const addCall = statement(
  'fixture_vault_call',
  `INSERT INTO vault.call (account_id, call_id, key_id, connection, method, host, path, status, latency_ms, hold_id, created_at)
   VALUES ($1, $2, 'key_fixture', $3, 'GET', 'api.example.org', '/', 200, 1, 'hold_fixture', core.clock_now())`,
);

const CALL_CHARACTERS = 22;

const connect = async ({ act }: Tenant, connection: string) =>
  (
    await act('vault.connection.set', {
      connection,
      kind: 'bearer',
      secret: `the token of ${connection}`,
      hosts: ['api.example.org'],
    })
  ).connection;

/** Calls that are over, as targets would have answered them. */
async function call({ db, accountId }: Tenant, connection: string): Promise<void> {
  for (const n of ['1', '2']) await db.query(addCall, [accountId, `vcl_${n.repeat(CALL_CHARACTERS)}`, connection]);
}

const setProvider = async ({ act }: Tenant, provider: string) =>
  (
    await act('vault.provider.set', {
      provider,
      authorization_url: 'https://example.org/authorize',
      token_url: 'https://example.org/token',
      client_id: 'client',
    })
  ).provider;

const nameIn = ({ connection }: Readonly<Record<string, string>>) => ({ connection });

export const tenants: TenantFixture = {
  first: 'vault.connection.set',
  nobody: { connection: 'nobody', provider: 'nobody' },
  async fill(tenant) {
    const connection = await connect(tenant, 'theirs');
    await connect(tenant, 'second');
    await call(tenant, connection);
    const provider = await setProvider(tenant, 'theirs');
    await setProvider(tenant, 'second');
    return { connection, provider };
  },
  async fillOther(tenant) {
    const connection = await connect(tenant, 'others');
    await call(tenant, connection);
    return { connection, provider: await setProvider(tenant, 'others') };
  },
  aims: {
    // Sets one of the caller's own, whatever it is called.
    'vault.connection.set': [],
    'vault.connection.get': [nameIn],
    'vault.connection.delete': [nameIn],
    'vault.call': [(names) => ({ ...nameIn(names), url: '/' })],
    'vault.calls': [],
    'vault.provider.set': [],
    'vault.provider.delete': [({ provider }) => ({ provider })],
    'vault.connect.start': [({ connection, provider }) => ({ connection, provider, hosts: ['api.example.org'] })],
  },
};
