import Type from 'typebox';
import { runWrite } from '../../../../core/idempotency/write.ts';
import { defineCapability } from '../../../../kit/capability.ts';
import { isoOrNull } from '../../../../lib/time.ts';
import { defaultSecret, rotateDefaultSecret } from '../../../../webhooks/default-secret.ts';
import { defaultSecretSchema } from './default-secret.ts';

/** Its answer holds a secret: a replay is for the key that got it. */
const KEPT_SECRET = { secret: true } as const;

export const webhooksDefaultSecretRotate = defineCapability()({
  method: 'POST',
  path: '/v1/account/webhooks/default_secret/rotate',
  summary: 'Replaces the secret that signs what is sent to the webhook_url of a job.',
  description:
    'The new secret signs from now on; the one before it signs beside it for 24 hours, so that receivers can change over.',
  keywords: ['rotate callback signing secret', 'new callback secret'],
  input: Type.Object({}),
  output: defaultSecretSchema,
  destructive: true,
  replay: KEPT_SECRET,
  examples: [{ title: 'A new one', input: {} }],
  async run({ ctx }) {
    const { core, accountId } = ctx;
    return runWrite(
      ctx,
      async (tx, { nowMs }) => {
        await rotateDefaultSecret(tx, accountId, nowMs);
        const { current, previousUntilMs } = await defaultSecret(tx, core.secrets, accountId);
        return { secret: current, previous_until: isoOrNull(previousUntilMs) };
      },
      KEPT_SECRET,
    );
  },
});
