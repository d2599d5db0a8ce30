// Sends a mail submitted after a login as email.send does: with its rules, its price, its answer.
import { hash } from 'node:crypto';
import { findReplay } from '../../../core/idempotency/write.ts';
import type { ProtocolDoor } from '../../../kit/protocol-server.ts';
import { invalidField } from '../../../problems/problem.ts';
import { ATTACHMENTS_MAX, HEADERS_MAX, SUBJECT_CHARACTERS_MAX } from '../limits.ts';
import { problem } from '../problems.ts';
import type { SubmittedMail } from '../receiving/parse-submission.ts';
import { replayOf, sendOne } from '../sending/order.ts';
import { isOwnHeader, type SentMail } from '../sending/read-mail.ts';
import type { EmailState } from '../state.ts';
import { type Submission, type Submit, submissionKey } from './submission.ts';

export function submitBy(state: EmailState): Submit {
  return async (door: ProtocolDoor, submission: Submission) => {
    const { source, recipients, principal, remoteAddress, signal } = submission;
    const mail = await state.receiving.reader.submission(principal.accountId, source);
    if (mail === null)
      throw problem('INVALID_REQUEST', { message: 'The mail has too many parts, or too long headers, to be read.' });
    const idempotencyKey = await submissionKey(submission, mail.messageId);
    const call = {
      capability: 'email.send',
      entryForm: 'smtp',
      method: 'SMTP',
      path: '/',
      principal,
      input: inputOf(mail, recipients, source),
      bodyBytes: source.length,
      remoteAddress,
      idempotencyKey,
      signal,
    } as const;
    const answer = await door.perform(call, async (ctx) => {
      const replay = await findReplay(ctx);
      if (replay !== null) return replayOf(ctx, replay, true);
      return sendOne(ctx, state, fieldsOf(mail), true, { messageId: mail.messageId, envelope: recipients });
    });
    const { email_id: emailId } = answer.data as { readonly email_id: string };
    return `Taken as ${emailId}`;
  };
}

/** The mail as people see it who approve it: its parts by their hash. */
function inputOf({ from, to, cc, subject, text }: SubmittedMail, recipients: unknown, source: Buffer) {
  return { from, to, cc, subject, text, envelope: recipients, sha256: hash('sha256', source) };
}

/** Throws VALIDATION_FAILED for what the schema of email.send refuses. */
function fieldsOf({ replyTo, text, html, headers, attachments, subject, ...mail }: SubmittedMail): SentMail {
  // Of a mail that was sent on, what servers wrote on its way is no part of it.
  const own = headers.filter(([name]) => !isOwnHeader(name));
  if (own.length > HEADERS_MAX) throw tooMany('headers', HEADERS_MAX);
  if (attachments.length > ATTACHMENTS_MAX) throw tooMany('attachments', ATTACHMENTS_MAX);
  if (subject.length > SUBJECT_CHARACTERS_MAX)
    throw invalidField('subject', 'maxLength', `The subject has more than ${SUBJECT_CHARACTERS_MAX} characters.`);
  return {
    from: mail.from,
    to: mail.to,
    cc: mail.cc,
    reply_to: replyTo,
    subject,
    attachments,
    // A mail may have files alone.
    ...(text === null && html === null ? { text: '' } : {}),
    ...(text === null ? {} : { text }),
    ...(html === null ? {} : { html }),
    headers: Object.fromEntries(own.map(([name, value]) => [name, value.replaceAll(/\p{Cc}+/gu, ' ')])),
  };
}

function tooMany(param: string, most: number) {
  return invalidField(param, 'maxItems', `A mail may have ${most} ${param}.`);
}
