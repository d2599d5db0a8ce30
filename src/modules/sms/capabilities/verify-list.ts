import Type from 'typebox';
import { listOf } from '../../../kit/resource.ts';
import { verificationSchema } from '../schemas.ts';
import type { SmsState } from '../state.ts';
import { type VerificationRow, verificationRecord } from '../verify/row.ts';
import { verificationTable } from '../verify/store.ts';

export const verifyList = listOf<VerificationRow, SmsState, typeof verificationSchema>(
  { ...verificationTable, noun: 'verification', output: verificationSchema, show: verificationRecord },
  {
    path: '/v1/sms/verify/list',
    description:
      'Verifications of the last 30 days, newest first, page by page. `pending` stays until a code is checked, also when its time is over.',
    keywords: ['list verifications', 'otp history'],
    examples: [{ title: 'Those that failed', input: { status: 'failed' }, expect: { has_more: false } }],
    filters: {
      status: Type.Optional(
        Type.Enum(['pending', 'approved', 'expired', 'failed'], { description: 'Only verifications in this status.' }),
      ),
    },
  },
);
