import Type from 'typebox';
import { forgetKeyHere } from '../../../core/hear-siblings.ts';
import { runWrite } from '../../../core/idempotency/write.ts';
import { secretInGrace } from '../../../core/keys/api-key.ts';
import { GRACE_HOURS_MAX } from '../../../core/keys/changes.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { appRecord, rotateApp } from '../app/app.ts';
import { appSchema } from '../schemas.ts';
import type { RealtimeState } from '../state.ts';

const replay = { secret: true } as const;

export const appRotate = defineCapability<RealtimeState>()({
  method: 'POST',
  path: '/v1/realtime/app/rotate',
  summary: 'Gives the app another secret.',
  description:
    'app_secret is another one from now on; app_key stays. What was signed with the one before is right for grace_hours more. With 0 its ' +
    'signatures and tokens end at once, and sockets and streams that were opened meanwhile close.',
  keywords: ['rotate pusher secret', 'leaked app secret'],
  input: Type.Object({
    grace_hours: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: GRACE_HOURS_MAX,
        default: 24,
        description: `Hours that the secret before stays right, 0 to ${GRACE_HOURS_MAX}; 24 when not sent.`,
      }),
    ),
  }),
  output: appSchema,
  answersSecret: 'admins',
  currentSecretOnly: true,
  gates: ['recent_sign_in'],
  destructive: true,
  replay,
  errors: ['KEY_ROTATION_LIMIT', 'QUOTA_EXCEEDED'],
  examples: [{ title: 'At once', input: { grace_hours: 0 } }],
  async run({ ctx, input }) {
    const graceHours = input.grace_hours ?? 24;
    let appKey: string | null = null;
    const written = await runWrite(
      ctx,
      async (tx, entry) => {
        if (!entry.isCurrent) throw secretInGrace();
        const rotated = await rotateApp(tx, ctx, entry, graceHours);
        appKey = rotated.appKey;
        return appRecord(ctx, rotated);
      },
      replay,
    );
    if (appKey === null) return written;
    if (graceHours === 0) await ctx.core.processes.keyDropInForce();
    await forgetKeyHere(ctx.core, appKey);
    return written;
  },
});
