import Type from 'typebox';
import { runWrite } from '../../../../core/idempotency/write.ts';
import { defineCapability } from '../../../../kit/capability.ts';
import { expiresField, instant } from '../../../../kit/fields.ts';
import { requireRoom, requireRow } from '../../../../kit/resource.ts';
import { newId } from '../../../../lib/ids.ts';
import { iso } from '../../../../lib/time.ts';
import { requireKeys } from '../../connections/keys.ts';
import { connectionLimits, connectionTable, saveConnection } from '../../connections/store.ts';
import { connectUrl, saveConnect, sealPlan } from '../../connects/connect.ts';
import { mayStillStart } from '../../connects/starter.ts';
import { pendingRow, targetRefusal } from '../../connects/target.ts';
import { CONNECT_SECONDS } from '../../limits.ts';
import { providers, sourceOf } from '../../oauth/provider.ts';
import { problem } from '../../problems.ts';
import { checkAllow } from '../../rule/allow.ts';
import { checkHosts } from '../../rule/hosts.ts';
import { allowField, connectionField, hostsField, keysField, providerField } from '../../schemas.ts';
import type { VaultState } from '../../state.ts';
import { providerFirst } from '../examples.ts';

export const connectStart = defineCapability<VaultState>()({
  method: 'POST',
  path: '/v1/vault/connect/start',
  summary: 'Makes a page on which a person connects their account at a provider.',
  description:
    'Hand url to the person: whoever has it may connect an account of theirs, once. The page names this account, the connection, its hosts, ' +
    'what it may do and the scopes; then the provider asks. The connection is pending until then, and its tokens are refreshed ever after. ' +
    'One that is connected may be connected anew for the same hosts: what the person brings takes the place of its credential, hosts, allow and keys.',
  keywords: [
    'connect account',
    'oauth login',
    'authorize app',
    'oauth consent link',
    'sign in with github',
    'reconnect',
  ],
  input: Type.Object({
    connection: connectionField,
    provider: providerField,
    hosts: hostsField,
    allow: Type.Optional(allowField),
    keys: Type.Optional(keysField),
    expires_seconds: expiresField(CONNECT_SECONDS, 'How long the page is good; 600 when not sent.'),
  }),
  output: Type.Object({
    connect_id: Type.String({ description: 'Id of the page.' }),
    connection: Type.String({ description: 'What it is for.' }),
    url: Type.String({ description: 'The page: hand it to a person. Good once.' }),
    expires_at: instant('When the page is good no more.'),
  }),
  answersSecret: 'callers',
  errors: ['NOT_FOUND', 'STATE_CONFLICT', 'QUOTA_EXCEEDED', 'INSUFFICIENT_SCOPE'],
  examples: [
    {
      title: 'A page for one repository of a forge',
      before: [providerFirst],
      input: {
        connection: 'forge-of-ana',
        provider: 'forge',
        hosts: ['api.github.com'],
        allow: [{ methods: ['GET'], path: '/repos/acme/*' }],
      },
      expect: { connection: 'forge-of-ana' },
    },
  ],
  run({ ctx, input }) {
    const { core, accountId, principal } = ctx;
    const { connection, provider, keys = null, expires_seconds: seconds = CONNECT_SECONDS.usual } = input;
    const allow = input.allow === undefined ? null : checkAllow(input.allow, 'allow');
    const rule = {
      connection,
      hosts: JSON.stringify(checkHosts(input.hosts, 'hosts')),
      allow: allow === null ? null : JSON.stringify(allow),
      keys: keys === null ? null : JSON.stringify([...new Set(keys)].sort()),
    };
    return runWrite(
      ctx,
      async (tx, { nowMs }) => {
        const row = await requireRow(providers, tx, ctx, provider);
        const before = await connectionTable.find(tx, ctx, connection);
        const refusal = targetRefusal(before, rule);
        if (refusal !== null) throw refusal;
        if (!(await mayStillStart(tx, core, { accountId, starterId: principal.id })))
          throw problem('INSUFFICIENT_SCOPE', {
            message: 'A page to connect is made by an API key, or by a person of the account.',
          });
        await requireKeys(tx, ctx, keys ?? []);
        if (before === null) {
          await requireRoom(tx, ctx, 'connection', connectionLimits.vault_connections);
          saveConnection(tx, ctx, pendingRow(rule, provider, nowMs));
        }
        const name = { accountId, connectId: newId('vcn_', nowMs) };
        const plan = {
          issuer: row.issuer,
          namesItself: row.names_itself,
          authorizationUrl: row.authorization_url,
          source: sourceOf(core.secrets, accountId, row),
        };
        saveConnect(tx, ctx, {
          ...rule,
          connect_id: name.connectId,
          starter_id: principal.id,
          provider,
          plan: sealPlan(core.secrets, name, plan),
          used_at: null,
          created_at: nowMs,
          expires_at: nowMs + seconds * 1_000,
        });
        return {
          connect_id: name.connectId,
          connection,
          url: connectUrl(core, name),
          expires_at: iso(nowMs + seconds * 1_000),
        };
      },
      { secret: true },
    );
  },
});
