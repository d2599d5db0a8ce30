// The vault: connections in each state, the form of each kind, a call that is tried, and what is refused.
import { providerFirst } from '../../../src/modules/vault/capabilities/examples.ts';
import { personOf } from '../../approvals/harness.ts';
import { client, createTestAccount } from '../../support/service.ts';
import { exampleSite } from '../../support/site.ts';
import { act, type Scene, type State, sessionOf } from './state.ts';

const SECRET = 'a secret of the site';
const kinds = ['bearer', 'header', 'query', 'basic', 'sigv4', 'client_credentials', 'oauth2'];

export async function vaultStates({ service, mark }: Scene): Promise<readonly State[]> {
  const account = await createTestAccount(service.core, 1);
  const call = client(service.url, account.secret);
  const { host } = new URL((await exampleSite()).url);
  const set = async (connection: string, fields: object = {}) => {
    const all = { connection, kind: 'bearer', secret: SECRET, hosts: [host], ...fields };
    const { status, text } = await call('PUT', '/v1/vault/connection/set', all);
    if (status !== 200) throw new Error(text);
  };
  await set('docs', { allow: [{ methods: ['GET'], path: '/*' }], expires_at: new Date(Date.now() + 86_400_000) });
  await set('patterns', { hosts: ['*.example.org', '*.example.net'] });
  for (const name of ['wrecked', 'asked']) await set(name);
  const change = (name: string, text: string) =>
    service.core.db.query(
      { name: '', text: `UPDATE vault.connection SET ${text} WHERE account_id = $1 AND connection = $2` },
      [account.accountId, name],
    );
  await change('wrecked', `status = 'broken', broken_reason = 'invalid_grant: ${mark.replaceAll("'", "''")}'`);
  await change('asked', `status = 'pending', updated_at = updated_at - interval '2 days'`);
  const { input: provider } = providerFirst;
  await call('PUT', '/v1/vault/provider/set', provider);
  const [by, viewer] = [await sessionOf(service, account), await personOf(service, account.accountId, 'viewer')];
  const at = (name: string, path: string, rest: Partial<State> = {}): State => ({
    name: `vault-${name}`,
    path: `/console/vault${path}`,
    by,
    ...rest,
  });
  const one = '/connections/docs';
  const made = { connection: 'x', hosts: 'https://example.org', allow: 'GET /', secret: SECRET };
  return [
    ...kinds.map((kind) => at(`new-${kind}`, `?new=1&kind=${kind}`, { says: 'Save connection' })),
    at('refused-new', '?new=1', { status: 400, form: act('create', made), says: 'no scheme' }),
    at('refused-parts', '?new=1&kind=sigv4', {
      status: 400,
      form: act('create', { connection: 'x', hosts: host }),
      says: 'needs its secret',
    }),
    at('unreadable', '?cursor=none', { says: 'INVALID_CURSOR' }),
    at('one', one, { says: 'Ways in' }),
    at('one-viewer', one, { by: viewer.token, says: 'Ways in' }),
    at('patterns', '/connections/patterns', { says: 'without *' }),
    at('broken', '/connections/wrecked', { says: 'invalid_grant' }),
    at('pending', '/connections/asked', { says: 'nobody has connected it' }),
    at('missing', '/connections/none', { status: 404 }),
    at('settings', `${one}/settings`, { says: 'Save' }),
    at('settings-viewer', `${one}/settings`, { by: viewer.token, says: 'May call' }),
    at('settings-kind', `${one}/settings?kind=basic`, { says: 'Password' }),
    at('refused-wider', `${one}/settings`, {
      status: 400,
      form: act('update', { allow: '' }),
      says: 'needs the secret',
    }),
    at('tried', one, { form: act('try', { url: '/keys' }), says: 'A key is shown once' }),
    at('tried-refused', one, { status: 403, form: act('try', { url: 'https://example.org/' }), says: 'RULE_REFUSED' }),
    at('delete', `${one}/delete`, { says: 'revoke it' }),
    at('new-provider', '/providers?new=1', { says: 'Client secret' }),
    at('provider', '/providers/forge?connection=docs', { says: 'Redirect URI' }),
    at('provider-missing', '/providers/none', { status: 404 }),
    at('refused-provider', '/providers?new=1', { status: 400, form: act('create', { provider: 'x', client_id: 'y' }) }),
    at('connect', '/providers/forge', {
      form: act('connect', { connection: 'ana', hosts: 'api.github.com' }),
      says: 'Hand this address',
    }),
    at('connect-refused', '/providers/forge', {
      status: 400,
      form: act('connect', { connection: 'ana', hosts: 'https://x' }),
      says: 'no scheme',
    }),
    at('calls-nothing', '/calls?outcome=failed', { says: 'Nothing matches' }),
    at('calls-unreadable', '/calls?cursor=none', { says: 'INVALID_CURSOR' }),
    { name: 'vault-overview', path: '/console', by, says: 'is broken' },
  ];
}
