import Type from 'typebox';
import type { CapPeriod, CapSetting } from '../../../../core/callers/key-cap.ts';
import { validateScopes } from '../../../../core/callers/scopes.ts';
import { createKey, periodWithoutCap } from '../../../../core/keys/changes.ts';
import { keyWithSecret } from '../../../../core/keys/key-record.ts';
import { defineCapability } from '../../../../kit/capability.ts';
import { instantForm, parseInstant } from '../../../../lib/instant.ts';
import { invalidField } from '../../../../problems/problem.ts';
import { changeKeys, requireEndsWith, requireNoMoney } from '../../caller.ts';
import { problem } from '../../problems.ts';
import {
  expiresAtField,
  keyWithSecretSchema,
  nameField,
  nanosField,
  scopesField,
  spendCapField,
  spendCapPeriodField,
} from '../../schemas.ts';

const replay = { keepDays: 30, secret: true } as const;

export const keysCreate = defineCapability()({
  method: 'POST',
  path: '/v1/account/keys/create',
  summary: 'Creates an API key.',
  description:
    'Makes a further key of this account and returns its secret in key_secret, this once. Give each program its own key with the ' +
    'narrowest scopes that do, so that it can be revoked alone. spend_cap_usd bounds what it can spend, exactly, whatever calls come at once. A key can only grant what it may do itself, and one that ' +
    'expires makes none that outlives it. A repetition by the same key with the same idempotency_key within 30 days returns the same ' +
    'key and the same secret.',
  keywords: [
    'new api key',
    'generate token',
    'service credentials',
    'least privilege scopes',
    'access for another program',
  ],
  input: Type.Object({
    project_id: Type.Optional(
      Type.Unsafe<string | null>({
        type: ['string', 'null'],
        maxLength: 200,
        description: 'Project of the key. Null or absent: the project of the calling key, the only one an account has.',
      }),
    ),
    name: Type.Optional(nameField),
    scopes: Type.Optional(scopesField),
    expires_at: Type.Optional(expiresAtField),
    spend_cap_usd: Type.Optional(spendCapField),
    spend_cap_period: Type.Optional(spendCapPeriodField),
  }),
  output: keyWithSecretSchema,
  currentSecretOnly: true,
  gates: ['recent_sign_in'],
  replay,
  errors: ['INVALID_SCOPE', 'SCOPE_ESCALATION', 'EXPIRY_TOO_LATE', 'NOT_FOUND', 'QUOTA_EXCEEDED'],
  limits: {
    keys: '100 / 500 / 5,000 keys (standard / pro / enterprise) that are neither revoked nor expired.',
    scopes: 'At most 100 scopes a key.',
  },
  examples: [
    {
      title: 'A key that may only publish to queues',
      input: { name: 'publisher', scopes: ['queue.publish'] },
      expect: { name: 'publisher', scopes: ['queue.publish'], status: 'active', revoked_at: null },
    },
    {
      title: 'A key for error reports that spends at most 1 USD a day',
      input: { name: 'web page', scopes: ['errors.capture'], spend_cap_usd: 1, spend_cap_period: 'daily' },
      expect: { spend_cap_usd: 1, spend_cap_period: 'daily', spend_used_usd: 0, spend_held_usd: 0 },
    },
    { title: 'A key for all modules', input: {}, expect: { name: null, scopes: null, expires_at: null } },
  ],
  async run({ ctx, input }) {
    const scopes = validateScopes(ctx.core.knownScopes, input.scopes ?? null);
    const expiresAtMs = instantOf(input.expires_at ?? null);
    const cap = capOf(nanosField('spend_cap_usd', input.spend_cap_usd ?? null), input.spend_cap_period);
    return changeKeys(ctx, { ...replay, scopes }, async (tx, entry) => {
      if ((input.project_id ?? ctx.principal.projectId) !== ctx.principal.projectId) {
        throw problem('NOT_FOUND', { message: 'The project does not exist.', param: 'project_id' });
      }
      if (expiresAtMs !== null && expiresAtMs <= entry.nowMs) throw notInFuture();
      requireEndsWith(entry, expiresAtMs, 'expires_at');
      requireNoMoney(entry, cap?.nanos, 'spend_cap_usd');
      const fields = { name: input.name ?? null, scopes, expiresAtMs, cap };
      const { key, secret } = await createKey(tx, ctx.core.secrets, ctx.accountId, fields, entry.nowMs);
      return keyWithSecret(key, secret);
    });
  },
});

function capOf(nanos: bigint | null, period: CapPeriod | undefined): CapSetting | null {
  if (nanos !== null) return { nanos, period: period ?? 'total' };
  if (period !== undefined) throw periodWithoutCap();
  return null;
}

function instantOf(text: string | null): number | null {
  if (text === null) return null;
  const ms = parseInstant(text);
  if (ms === null) throw invalidField('expires_at', 'format', `expires_at must be ${instantForm}.`);
  return ms;
}

function notInFuture() {
  return invalidField('expires_at', 'future', 'expires_at must be in the future.');
}
