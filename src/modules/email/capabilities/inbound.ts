// Intake of mail piped in by a mail server of the operator or of an account: as JSON, or as it is by the route below.
import Type, { type Static } from 'typebox';
import { operatorAccount } from '../../../core/accounts/operator.ts';
import { bearer } from '../../../core/credentials/http-schemes.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { textOrNull } from '../../../kit/fields.ts';
import type { RawAnswer, RawRequest, RawRoute } from '../../../kit/raw-route.ts';
import { alsoNamed } from '../../../kit/second-names.ts';
import type { CallContext } from '../../../kit/services.ts';
import { readInlineBytes } from '../../../lib/inline-bytes.ts';
import { toJson } from '../../../lib/json-text.ts';
import { invalidField } from '../../../problems/problem.ts';
import { RECEIVED_BYTES_MAX } from '../inboxes/limits.ts';
import { problem } from '../problems.ts';
import { MailBytes } from '../receiving/mail-bytes.ts';
import { type Delivered, receive, traceOf } from '../receiving/receive.ts';
import type { Receiving, ReceivingState } from '../receiving/receiving.ts';
import { type Recipient, recipientOf } from '../receiving/recipients.ts';

const RECIPIENTS_MAX = 50;
const ADDRESS_CHARACTERS_MAX = 320;
const BODY_BYTES_MAX = 512 * 1024;

const outcomeSchema = Type.Object({
  to: Type.String({ description: 'As sent.' }),
  kind: Type.Enum(['mail', 'bounce', 'complaint', 'ignored'], {
    description:
      'What it was: mail for an inbox, a report about a mail that was sent, or a mail to the bounce address that reports nothing.',
  }),
  email_id: textOrNull('The mail that a bounce or a complaint is about.'),
  inbound_id: textOrNull('The received mail.'),
});

const output = Type.Object({
  ...outcomeSchema.properties,
  items: Type.Array(outcomeSchema, {
    description: 'The same for each recipient; the fields beside it are of the first.',
  }),
});

type Outcome = Static<typeof outcomeSchema>;

export const inbound = defineCapability<ReceivingState>()({
  method: 'POST',
  path: '/v1/email/inbound/encoded',
  id: 'email.inbound',
  summary: 'Takes a mail for an inbox, or a bounce.',
  description:
    'For a mail server that pipes mail here. To send the mail as it is, up to 10 MiB, use POST /v1/email/inbound with Content-Type message/rfc822 and ' +
    'the envelope in the query (`from`, `to` repeated); here the mail is base64 in JSON. SPF is not checked, for the address of its sender is not known. ' +
    'A key of the account that owns the inboxes takes mail for them; one of the operator for all. A repeat of the same mail within a day keeps nothing more.',
  keywords: ['pipe mail from postfix', 'inbound mail webhook', 'deliver mail to an inbox', 'process bounce message'],
  input: Type.Object({
    content_base64: alsoNamed(Type.String({ description: 'The mail (RFC 5322) as base64.' }), 'message'),
    from: Type.Optional(
      Type.String({
        maxLength: ADDRESS_CHARACTERS_MAX,
        description: 'Sender of the envelope; empty or absent: a bounce.',
      }),
    ),
    to: Type.Array(Type.String({ minLength: 3, maxLength: ADDRESS_CHARACTERS_MAX }), {
      minItems: 1,
      maxItems: RECIPIENTS_MAX,
      description: `Recipients of the envelope, 1 to ${RECIPIENTS_MAX}.`,
    }),
  }),
  output,
  isKeyless: true,
  bodyBytesMax: BODY_BYTES_MAX,
  errors: ['NOT_FOUND', 'QUOTA_EXCEEDED', 'STATE_CONFLICT'],
  limits: { mail: '10 MiB as message/rfc822, 380 KiB here.', pace: '100 mails a minute and inbox, 10,000 kept.' },
  examples: [
    {
      title: 'A mail for an inbox',
      before: [{ capability: 'email.inbox.create', input: { address: 'piped@inbox.test' } }],
      input: {
        content_base64: Buffer.from(
          'From: a@sender.test\r\nTo: piped@inbox.test\r\nSubject: Hi\r\n\r\nHello\r\n',
        ).toString('base64'),
        from: 'a@sender.test',
        to: ['piped@inbox.test'],
      },
      expect: { kind: 'mail', email_id: null },
    },
  ],
  async run({ ctx, input, state: { receiving } }) {
    const read = readInlineBytes(input.content_base64);
    if (read === null) throw invalidField('content_base64', 'base64', 'content_base64 is not base64.');
    const source = Buffer.from(read.bytes.buffer, read.bytes.byteOffset, read.bytes.byteLength);
    return { data: await take(receiving, ctx, { source, from: input.from ?? '', to: input.to }) };
  },
});

/** The same with the mail as the body. */
export const inboundRoute: RawRoute<ReceivingState> = {
  name: 'email.inbound',
  methods: ['POST'],
  path: '/v1/email/inbound',
  capability: 'email.inbound',
  bodyBytesMax: RECEIVED_BYTES_MAX,
  credentialOf: bearer,
  answer: answerRaw,
};

async function answerRaw(request: RawRequest, { receiving }: ReceivingState): Promise<RawAnswer> {
  const ctx = request.ctx ?? (await request.admit(null));
  if (!/^message\/rfc822\s*(;|$)/i.test(request.headers['content-type'] ?? '')) {
    throw problem('INVALID_REQUEST', { message: 'Send the mail as it is, with Content-Type message/rfc822.' });
  }
  const to = request.query.getAll('to');
  if (to.length === 0 || to.length > RECIPIENTS_MAX) {
    throw invalidField('to', 'count', `Name 1 to ${RECIPIENTS_MAX} recipients in the query: ?to=…&to=….`);
  }
  const data = await take(receiving, ctx, { source: request.body, from: request.query.get('from') ?? '', to });
  const metadata = JSON.stringify(request.metadata({ data }));
  return {
    status: 200,
    headers: { 'content-type': 'application/json; charset=utf-8' },
    body: `{"ok":true,"data":${toJson(data)},"metadata":${metadata}}`,
  };
}

interface Envelope {
  readonly source: Buffer;
  readonly from: string;
  readonly to: readonly string[];
}

/** Throws NOT_FOUND for a recipient that is none of the account's, QUOTA_EXCEEDED for a full inbox, STATE_CONFLICT for a loop. */
async function take(receiving: Receiving, ctx: CallContext, { source, from, to }: Envelope) {
  const recipients = await requireRecipients(receiving, ctx, to);
  const origin = { ip: null, helo: null, envelopeFrom: from };
  const by = new URL(ctx.core.baseUrl).hostname;
  const trace = traceOf(origin, { by, protocol: 'HTTP', id: ctx.requestId, atMs: Date.now() });
  const delivered = await receive(receiving, {
    mail: await MailBytes.of(source),
    recipients,
    by: { origin },
    trace,
    sharer: ctx.accountId,
  });
  const items = delivered.map((each, i) => outcomeOf(to[i] as string, each));
  return { ...(items[0] as Outcome), items };
}

async function requireRecipients(receiving: Receiving, ctx: CallContext, to: readonly string[]): Promise<Recipient[]> {
  const isOperator = (await operatorAccount(ctx.core.db)) === ctx.accountId;
  const recipients: Recipient[] = [];
  for (const [i, address] of to.entries()) {
    const found = await recipientOf(receiving, address);
    const isOwn = found?.kind === 'bounce' || found?.inbox.accountId === ctx.accountId;
    if (found === null || !(isOwn || isOperator)) {
      throw problem('NOT_FOUND', { param: `to[${i}]`, message: 'The account has no inbox with this address.' });
    }
    recipients.push(found);
  }
  return recipients;
}

function outcomeOf(to: string, delivered: Delivered): Outcome {
  switch (delivered.kind) {
    case 'kept':
    case 'known':
      return { to, kind: 'mail', email_id: null, inbound_id: delivered.inboundId };
    case 'bounce':
    case 'complaint':
      return { to, kind: delivered.kind, email_id: delivered.emailId, inbound_id: null };
    case 'ignored':
      return { to, kind: 'ignored', email_id: null, inbound_id: null };
    case 'full':
      throw problem('QUOTA_EXCEEDED', { param: 'to', message: delivered.why });
    case 'gone':
      throw problem('NOT_FOUND', { param: 'to', message: 'The account has no inbox with this address.' });
    case 'looping':
      throw problem('STATE_CONFLICT', {
        detail: 'mail_loop',
        message: 'The mail has passed more than 25 servers: it goes in circles.',
      });
  }
}
