import Type from 'typebox';
import { findReplay, runWrite } from '../../../../core/idempotency/write.ts';
import { defineCapability } from '../../../../kit/capability.ts';
import { requireRoom } from '../../../../kit/resource.ts';
import { patternWithWords } from '../../../../lib/pattern-words.ts';
import { SCOPE_CHARACTERS_MAX, SCOPES_MAX, SECRET_CHARACTERS_MAX, SECRET_CHARACTERS_MIN } from '../../limits.ts';
import { providerLimits, providerRecord, providerTable, saveProvider } from '../../oauth/provider.ts';
import { addressesOf, providerRowOf } from '../../oauth/set-provider.ts';
import { authField, providerField, providerSchema } from '../../schemas.ts';
import type { VaultState } from '../../state.ts';
import { providerFirst } from '../examples.ts';

const URL_CHARACTERS_MAX = 2_048;
const SCOPE = patternWithWords('^[!#-\\[\\]-~]+$', 'may only have printable ASCII characters except spaces, " and \\');
const url = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: URL_CHARACTERS_MAX, description }));

export const providerSet = defineCapability<VaultState>()({
  method: 'PUT',
  path: '/v1/vault/provider/set',
  summary: 'Sets an OAuth provider that people connect accounts at.',
  description:
    'Register redirect_uri of the answer at the provider, and send the client that it gives you. With issuer, its own document names the ' +
    'addresses; else send both. The client secret is never answered. Addresses, client_id and auth change only in a call that brings it. ' +
    'Connections keep the client that they were made with: what is changed here gets none of their tokens.',
  keywords: ['oauth client', 'oauth app', 'register oauth provider', 'openid issuer', 'client id and secret'],
  input: Type.Object({
    provider: providerField,
    issuer: url('Its issuer: https://accounts.example.com. Of OpenID Connect, or of RFC 8414.'),
    authorization_url: url('Where a person is sent; without issuer.'),
    token_url: url('Where tokens come from; without issuer.'),
    client_id: Type.String({
      minLength: 1,
      maxLength: 512,
      pattern: '^[ -~]+$',
      description: 'Of the client at the provider.',
    }),
    client_secret: Type.Optional(
      Type.String({
        minLength: SECRET_CHARACTERS_MIN,
        maxLength: SECRET_CHARACTERS_MAX,
        pattern: '^[ -~]+$',
        writeOnly: true,
        description: 'Of the client; it is never answered.',
      }),
    ),
    scopes: Type.Optional(
      Type.Array(Type.String({ pattern: SCOPE, maxLength: SCOPE_CHARACTERS_MAX }), {
        maxItems: SCOPES_MAX,
        description: 'What is asked for; offline_access where the provider wants it for a refresh.',
      }),
    ),
    auth: Type.Optional(authField),
  }),
  output: providerSchema,
  errors: ['SECRET_NEEDED', 'QUOTA_EXCEEDED', 'WEBHOOK_URL_REJECTED', 'TARGET_FAILED'],
  limits: { providers: '50 an account.' },
  examples: [
    {
      title: 'A forge by its addresses',
      input: providerFirst.input,
      expect: { provider: 'forge', issuer: null, auth: 'post' },
    },
  ],
  async run({ ctx, input }) {
    const replay = await findReplay(ctx);
    if (replay !== null) return replay;
    const { core, accountId } = ctx;
    const seen = await providerTable.find(core.db, ctx, input.provider);
    const addresses = await addressesOf(ctx, input, seen);
    return runWrite(ctx, async (tx, { nowMs }) => {
      const before = await providerTable.find(tx, ctx, input.provider);
      if (before === null) await requireRoom(tx, ctx, 'provider', providerLimits.vault_providers);
      const kept = addresses ?? before ?? seen;
      const row = providerRowOf(core.secrets, accountId, input, { addresses: kept, before, nowMs });
      return providerRecord(core, saveProvider(tx, ctx, row));
    });
  },
});
