import Type from 'typebox';
import { runWrite } from '../../../core/idempotency/write.ts';
import { GRACE_HOURS_MAX, rotateKey } from '../../../core/keys/changes.ts';
import { keyRecord } from '../../../core/keys/store.ts';
import { HOUR_MS } from '../../../lib/time.ts';
import { defineCapability } from '../../../manifest/capability.ts';
import { enterFor, forgetKey, requireTargetWithin } from '../caller.ts';
import { keyIdField, keyWithSecretSchema } from '../schemas.ts';
import type { AccountState } from '../state.ts';

const replay = { keepDays: 30, secret: true } as const;

export const keysRotate = defineCapability<AccountState>()({
  id: 'account.keys.rotate',
  method: 'POST',
  path: '/v1/account/keys/rotate/{id}',
  summary: 'Gives an API key a new secret.',
  description:
    'Returns the key, same id and scopes, with a new key_secret, this once. The secret before it stays valid for grace_hours, so ' +
    'that programs can change over one by one; with 0 it and all earlier ones end before the answer. At most two earlier secrets are valid at a time.',
  input: Type.Object({
    id: keyIdField,
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
  price: 'free',
  scope: 'admin',
  idempotent: true,
  replay,
  errors: ['KEY_NOT_FOUND', 'SCOPE_ESCALATION', 'KEY_NOT_ROTATABLE', 'KEY_ROTATION_LIMIT'],
  events: [],
  limits: { secrets: 'The current secret and at most two earlier ones are valid at a time.' },
  examples: [
    {
      title: 'Rotate with an hour to change over',
      before: [{ capability: 'account.keys.create', input: { name: 'worker' } }],
      input: { id: '$0.id', grace_hours: 1 },
      expect: { name: 'worker', status: 'rotating' },
    },
    {
      title: 'Rotate at once',
      before: [{ capability: 'account.keys.create', input: { name: 'worker' } }],
      input: { id: '$0.id', grace_hours: 0 },
      expect: { status: 'active', rotating_until: null },
    },
  ],
  async run({ ctx, input }) {
    const graceHours = input.grace_hours ?? 24;
    await requireTargetWithin(ctx, input.id);
    const write = await runWrite(
      ctx,
      async (tx) => {
        const { nowMs } = await enterFor(tx, ctx, input.id);
        const { key, secret } = await rotateKey(
          tx,
          ctx.core.secrets,
          ctx.accountId,
          input.id,
          graceHours * HOUR_MS,
          nowMs,
        );
        return { ...keyRecord(key), key_secret: secret };
      },
      replay,
    );
    if (graceHours === 0) await forgetKey(ctx.core, input.id);
    // The secret before now has an end, which this process should know.
    else ctx.core.keys.drop(input.id);
    return write;
  },
});
