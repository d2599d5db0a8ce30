// SMTP replies to failures: a code by which the client tries again (4xx) or gives up (5xx), and a line. The server adds the enhanced code (RFC
// 3463).
import { Problem } from '../../../problems/problem.ts';
import type { Delivered } from '../receiving/receive.ts';

/** What smtp-server sends of it: `responseCode` and the message. */
export class SmtpReply extends Error {
  readonly responseCode: number;

  constructor(responseCode: number, message: string) {
    super(message);
    this.responseCode = responseCode;
  }
}

const LINE_CHARACTERS_MAX = 400;

/** Retryable problems are 451, others 554; for a wrong key see `loginReply`. */
export function replyOf(failure: Problem): SmtpReply {
  const field = failure.param === undefined ? '' : ` (${failure.param})`;
  const line = `${failure.code}${field}: ${failure.message}`.slice(0, LINE_CHARACTERS_MAX);
  return new SmtpReply(failure.retryable ? 451 : 554, line);
}

export function loginReply(failure: Problem): SmtpReply {
  return new SmtpReply(
    failure.retryable ? 454 : 535,
    `${failure.code}: ${failure.message}`.slice(0, LINE_CHARACTERS_MAX),
  );
}

/** Of a mail with several recipients the worst counts: a repeat keeps nothing twice. Null: all of it was taken. */
export function replyToDelivery(delivered: readonly Delivered[]): SmtpReply | null {
  for (const each of delivered) if (each.kind === 'full') return new SmtpReply(452, `${each.why} Try again later.`);
  for (const { kind } of delivered) {
    if (kind === 'looping') return new SmtpReply(554, 'The mail has passed more than 25 servers: it goes in circles.');
    if (kind === 'gone') return new SmtpReply(550, 'There is no such mailbox here.');
  }
  return null;
}

/** What is no problem of the caller's: the log has it. */
export const internalFailure = new SmtpReply(451, 'The mail could not be taken now. Try again later.');

export function isProblem(error: unknown): error is Problem {
  return error instanceof Problem;
}
