import Type from 'typebox';
import { forgetKeyHere } from '../../../../core/hear-siblings.ts';
import { flagKey, type KeyWithSecret, replaceLeakedKey, requireKey, rotateKey } from '../../../../core/keys/changes.ts';
import { keyRecord, keyWithSecret } from '../../../../core/keys/key-record.ts';
import type { Transaction } from '../../../../db/database.ts';
import { defineCapability } from '../../../../kit/capability.ts';
import type { CallContext } from '../../../../kit/services.ts';
import { HOUR_MS } from '../../../../lib/time.ts';
import { changeKeys, forgetKey, requireMayGetSecretOf, requireNoMoney } from '../../caller.ts';
import { keyIdField, keySchema, keySecretField, keyWithSecretSchema, secretField } from '../../schemas.ts';

const replay = { keepDays: 30, secret: true } as const;
const GRACE_HOURS = 1;

export const keysSuspectedCompromise = defineCapability()({
  method: 'POST',
  path: '/v1/account/keys/suspected_compromise/{key_id}',
  summary: 'Reports that the secret of an API key may be in foreign hands.',
  description:
    'A confirmed leak revokes the key before the answer; auto_rotate then makes replacement, a key with its name, scopes, expiry and spend cap (counted ' +
    'anew). Otherwise auto_rotate gives the key a new secret; the one before lives one more hour and cannot manage keys. Secrets are shown this once. ' +
    'With neither, only flagged_at is set.',
  keywords: ['leaked api key', 'key stolen', 'secret pushed to github', 'security incident'],
  input: Type.Object({
    key_id: keyIdField,
    confirmed_leak: Type.Optional(
      Type.Boolean({ default: false, description: 'Whether the leak is certain: then the key ends at once.' }),
    ),
    auto_rotate: Type.Optional(
      Type.Boolean({
        default: true,
        description: 'Makes a new secret, or after a confirmed leak a new key.',
      }),
    ),
  }),
  output: Type.Object({
    key: Type.Object(
      { ...keySchema.properties, key_secret: Type.Optional(keySecretField), secret: Type.Optional(secretField) },
      { title: 'ReportedApiKey', description: 'The reported key; with key_secret when it was rotated.' },
    ),
    replacement: Type.Union([keyWithSecretSchema, Type.Null()], {
      description:
        'The new key after a confirmed leak with auto_rotate; else null, also when the reported key had ended before.',
    }),
  }),
  currentSecretOnly: true,
  destructive: true,
  gates: ['recent_sign_in'],
  replay,
  errors: ['KEY_NOT_FOUND', 'SCOPE_ESCALATION', 'EXPIRY_TOO_LATE', 'KEY_NOT_ROTATABLE', 'KEY_ROTATION_LIMIT'],
  examples: [
    {
      title: 'A leak that is certain',
      before: [{ capability: 'account.keys.create', input: { name: 'leaked', scopes: ['queue'] } }],
      input: { key_id: '$0.key_id', confirmed_leak: true },
    },
    {
      title: 'A suspicion, noted only',
      before: [{ capability: 'account.keys.create', input: { name: 'perhaps' } }],
      input: { key_id: '$0.key_id', auto_rotate: false },
      expect: { replacement: null },
    },
  ],
  async run({ ctx, input }) {
    const confirmed = input.confirmed_leak ?? false;
    const rotate = input.auto_rotate ?? true;
    const write = await changeKeys(ctx, { ...replay, target: input.key_id }, async (tx, entry) => {
      if (rotate) {
        const target = await requireKey(tx, ctx.accountId, input.key_id);
        requireMayGetSecretOf(entry, target);
        // The replacement's cap has nothing used.
        if (confirmed) requireNoMoney(entry, target.cap?.cap, 'key_id');
      }
      return report(tx, ctx, input.key_id, { confirmed, rotate }, entry.nowMs);
    });
    if (confirmed) await forgetKey(ctx.core, input.key_id);
    else await forgetKeyHere(ctx.core, input.key_id);
    return write;
  },
});

async function report(
  tx: Transaction,
  { core: { secrets }, accountId }: CallContext,
  keyId: string,
  { confirmed, rotate }: { confirmed: boolean; rotate: boolean },
  nowMs: number,
) {
  if (confirmed) {
    const { key, replacement } = await replaceLeakedKey(tx, secrets, accountId, keyId, rotate, nowMs);
    return { key: keyRecord(key), replacement: replacement === null ? null : keyRecordWithSecret(replacement) };
  }
  if (rotate)
    return {
      key: keyRecordWithSecret(await rotateKey(tx, secrets, accountId, keyId, GRACE_HOURS * HOUR_MS, nowMs)),
      replacement: null,
    };
  return { key: keyRecord(await flagKey(tx, accountId, keyId, nowMs)), replacement: null };
}

const keyRecordWithSecret = ({ key, secret }: KeyWithSecret) => keyWithSecret(key, secret);
