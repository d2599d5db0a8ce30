import Type from 'typebox';
import { forgetKeyHere } from '../../../../core/hear-siblings.ts';
import { GRACE_HOURS_MAX, requireKey, rotateKey } from '../../../../core/keys/changes.ts';
import { keyWithSecret } from '../../../../core/keys/key-record.ts';
import { defineCapability } from '../../../../kit/capability.ts';
import { HOUR_MS } from '../../../../lib/time.ts';
import { changeKeys, forgetKey, requireMayGetSecretOf } from '../../caller.ts';
import { keyIdField, keyWithSecretSchema } from '../../schemas.ts';

const replay = { keepDays: 30, secret: true } as const;

export const keysRotate = defineCapability()({
  method: 'POST',
  path: '/v1/account/keys/rotate/{key_id}',
  summary: 'Gives an API key a new secret.',
  description:
    'Returns the key, same id and scopes, with a new key_secret, this once. The secret before it stays valid for grace_hours, so ' +
    'that programs can change over one by one; with 0 it and all earlier ones end before the answer. At most two ' +
    'earlier secrets are valid at a time; in its grace a secret may use the API, but not manage keys (account.keys.*).',
  keywords: ['rotate api key secret', 'roll credentials', 'renew token', 'key rotation grace'],
  input: Type.Object({
    key_id: keyIdField,
    grace_hours: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: GRACE_HOURS_MAX,
        default: 24,
        description: 'How long the secret before stays valid, in whole hours, 0 to 168.',
      }),
    ),
  }),
  output: keyWithSecretSchema,
  currentSecretOnly: true,
  destructive: true,
  gates: ['recent_sign_in'],
  replay,
  errors: ['KEY_NOT_FOUND', 'SCOPE_ESCALATION', 'EXPIRY_TOO_LATE', 'KEY_NOT_ROTATABLE', 'KEY_ROTATION_LIMIT'],
  limits: { secrets: 'The current secret and at most two earlier ones are valid.' },
  examples: [
    {
      title: 'Rotate with an hour to change over',
      before: [{ capability: 'account.keys.create', input: { name: 'worker' } }],
      input: { key_id: '$0.key_id', grace_hours: 1 },
      expect: { name: 'worker', status: 'rotating' },
    },
    {
      title: 'Rotate at once',
      before: [{ capability: 'account.keys.create', input: { name: 'worker' } }],
      input: { key_id: '$0.key_id', grace_hours: 0 },
      expect: { status: 'active', rotating_until: null },
    },
  ],
  async run({ ctx, input }) {
    const graceHours = input.grace_hours ?? 24;
    const write = await changeKeys(ctx, { ...replay, target: input.key_id }, async (tx, entry) => {
      requireMayGetSecretOf(entry, await requireKey(tx, ctx.accountId, input.key_id));
      const graceMs = graceHours * HOUR_MS;
      const { key, secret } = await rotateKey(tx, ctx.core.secrets, ctx.accountId, input.key_id, graceMs, entry.nowMs);
      return keyWithSecret(key, secret);
    });
    if (graceHours === 0) await forgetKey(ctx.core, input.key_id);
    // The secret before now has an end, which this process should know.
    else await forgetKeyHere(ctx.core, input.key_id);
    return write;
  },
});
