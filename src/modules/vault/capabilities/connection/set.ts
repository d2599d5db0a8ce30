import Type from 'typebox';
import { runWrite } from '../../../../core/idempotency/write.ts';
import { defineCapability } from '../../../../kit/capability.ts';
import { instantOrNull } from '../../../../kit/fields.ts';
import { requireRoom } from '../../../../kit/resource.ts';
import { kinds } from '../../connections/credential.ts';
import { requireKeys } from '../../connections/keys.ts';
import { connectionRecord } from '../../connections/row.ts';
import { checkConnection, openedHeaders, rowOf } from '../../connections/set.ts';
import { connectionLimits, connectionTable, saveConnection } from '../../connections/store.ts';
import {
  addedHeadersField,
  allowField,
  approveField,
  connectionField,
  connectionSchema,
  hostsField,
  keysField,
  limitsField,
  mcpField,
  notifyField,
  secretField,
} from '../../schemas.ts';
import type { VaultState } from '../../state.ts';
import { TOKEN } from '../examples.ts';

export const set = defineCapability<VaultState>()({
  method: 'PUT',
  path: '/v1/vault/connection/set',
  summary: 'Sets a credential that calls can use and nobody can read.',
  description:
    'A connection is a credential with the rule of its use: hosts, methods and paths, keys, limits. Calls go out by vault.call, by the path ' +
    '/v1/vault/to/{connection}/…, to an MCP server by /mcp/via/{connection}, or through the proxy; the service puts the credential in. The secret is never answered again. kind, field, ' +
    'hosts and headers change only in a call that brings the secret; allow, keys, approve, limits and expires_at can be narrowed without it. ' +
    'Replaces the whole rule. Give agents the scope `vault.call`, so that they use connections and change none. Who may POST to a path that makes keys at the target can ' +
    'make one: only allow prevents that.',
  keywords: [
    'store api key',
    'secret manager',
    'credential vault',
    'add credential',
    'token for agents',
    'oauth connection',
  ],
  input: Type.Object({
    connection: connectionField,
    kind: Type.Enum([...kinds], {
      description:
        'bearer: Authorization. basic: user and password. header, query: in field. sigv4: signs as AWS. client_credentials, oauth2: tokens, which are refreshed.',
    }),
    secret: Type.Optional(secretField),
    field: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 128,
        description: 'Of header and query: the name that it stands under, x-api-key.',
      }),
    ),
    hosts: hostsField,
    allow: Type.Optional(allowField),
    headers: Type.Optional(addedHeadersField),
    keys: Type.Optional(keysField),
    mcp: Type.Optional(mcpField),
    limits: Type.Optional(limitsField),
    approve: Type.Optional(approveField),
    notify: Type.Optional(notifyField),
    expires_at: Type.Optional(instantOrNull('When it can be used no more; null: never.')),
  }),
  output: connectionSchema,
  errors: ['SECRET_NEEDED', 'QUOTA_EXCEEDED', 'WEBHOOK_HEADER_REJECTED', 'WEBHOOK_URL_REJECTED'],
  limits: { connections: '50 / 500 / 5,000 an account by tier.', secret: '8 to 4,096 characters.' },
  examples: [
    {
      title: 'A token of a forge, for its issues alone',
      input: {
        connection: 'forge',
        kind: 'bearer',
        secret: TOKEN,
        hosts: ['api.github.com'],
        allow: [{ methods: ['GET', 'POST'], path: '/repos/acme/*/issues' }],
        limits: { per_minute: 60 },
      },
      expect: { connection: 'forge', status: 'ready', field: null, limits: { per_minute: 60, per_day: null } },
    },
    {
      title: 'A key in a header, narrowed later without it',
      before: [
        {
          capability: 'vault.connection.set',
          input: { connection: 'mail', kind: 'header', field: 'x-api-key', secret: TOKEN, hosts: ['api.example.com'] },
        },
      ],
      input: {
        connection: 'mail',
        kind: 'header',
        field: 'x-api-key',
        hosts: ['api.example.com'],
        approve: ['DELETE'],
      },
      expect: { version: 2, approve: ['DELETE'] },
    },
  ],
  async run({ ctx, input }) {
    const checked = checkConnection(input);
    const { secrets, outbound } = ctx.core;
    const { credential } = checked;
    if (credential !== null && 'source' in credential) {
      const warning = await outbound.checkUrl(credential.source.tokenUrl, 'secret.token_url', 'source');
      if (warning !== null) ctx.warnings.push(warning);
    }
    return runWrite(ctx, async (tx, { nowMs }) => {
      const before = await connectionTable.find(tx, ctx, checked.name);
      if (before === null) await requireRoom(tx, ctx, 'connection', connectionLimits.vault_connections);
      await requireKeys(tx, ctx, checked.keys ?? []);
      const row = saveConnection(tx, ctx, rowOf(secrets, ctx.accountId, checked, before, nowMs));
      const whole = { ...row, account_id: ctx.accountId };
      return connectionRecord(whole, nowMs, Object.keys(openedHeaders(secrets, whole)));
    });
  },
});
