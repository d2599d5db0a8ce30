import Type from 'typebox';
import { runWrite } from '../../../core/idempotency/write.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { SANDBOX } from '../../../vendors/file/port.ts';
import { SANDBOX_FROM } from '../carriers/family.ts';
import { saveInbound } from '../messages/inbound.ts';
import { saveOptWord } from '../messages/opt-outs.ts';
import { smsRecord } from '../messages/row.ts';
import { requireNumber } from '../numbers.ts';
import { numberField, senderField, smsSchema, textField } from '../schemas.ts';
import type { SmsState } from '../state.ts';
import { optWordOf } from '../words.ts';

export const sandboxInbound = defineCapability<SmsState>()({
  method: 'POST',
  path: '/v1/sms/sandbox/inbound',
  summary: 'Lets a person of the sandbox write to you.',
  description:
    'Rehearses a message of a person: it is listed as inbound and told as sms.inbound, as if a carrier had brought it. STOP ends what the ' +
    'sandbox sends from `to` to that person, START allows it again; both words count for your account only.',
  keywords: ['simulate incoming sms', 'test inbound text message', 'sms stop keyword'],
  input: Type.Object({
    from: numberField('Number of the person, in E.164.'),
    to: Type.Optional(
      senderField(`Number that they write to; ${SANDBOX_FROM}, which the sandbox sends from, when not sent.`),
    ),
    text: textField('What they write.'),
  }),
  output: smsSchema,
  events: ['sms.inbound'],
  examples: [
    {
      title: 'An answer',
      input: { from: '+12025550125', text: 'Thanks!' },
      expect: { direction: 'inbound', status: 'received', to: SANDBOX_FROM },
    },
  ],
  async run({ ctx, input: { from, to = SANDBOX_FROM, text } }) {
    await requireNumber(from, 'from', null);
    return runWrite(ctx, async (tx, { nowMs }) => {
      const word = optWordOf(text);
      if (word !== null) await saveOptWord(tx, { sandboxOf: ctx.accountId, ours: to, theirs: from }, word, nowMs);
      const brought = { vendor: SANDBOX, captured: true, requestId: ctx.requestId, keyId: ctx.principal.id };
      return smsRecord(await saveInbound(tx, ctx.accountId, { from, to, text, reference: null }, brought, nowMs));
    });
  },
});
