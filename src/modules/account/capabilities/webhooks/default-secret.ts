import Type from 'typebox';
import { defineCapability } from '../../../../kit/capability.ts';
import { isoOrNull } from '../../../../lib/time.ts';
import { defaultSecret } from '../../../../webhooks/default-secret.ts';

export const defaultSecretSchema = Type.Object({
  secret: Type.String({ description: 'The signing secret, `whsec_…`, for a verifier of Standard Webhooks.' }),
  previous_until: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    format: 'date-time',
    description: 'Until when the secret before this one signs too; null when none does.',
  }),
});

export const webhooksDefaultSecret = defineCapability()({
  method: 'GET',
  path: '/v1/account/webhooks/default_secret',
  summary: 'Shows the secret that signs what is sent to the webhook_url of a job.',
  description:
    'Calls that begin a job, such as video.generate, take a webhook_url for that job alone; this secret signs what is sent there. Webhooks that you ' +
    'register have secrets of their own.',
  keywords: ['signing secret of job callbacks', 'verify webhook_url signature'],
  input: Type.Object({}),
  output: defaultSecretSchema,
  answersSecret: 'admins',
  examples: [{ title: 'To verify with', input: {}, expect: { previous_until: null } }],
  async run({ ctx: { core, accountId } }) {
    const { current, previousUntilMs } = await defaultSecret(core.db, core.secrets, accountId);
    return { data: { secret: current, previous_until: isoOrNull(previousUntilMs) } };
  },
});
