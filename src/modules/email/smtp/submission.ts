// A mail submitted after a login: a call of email.send. The envelope has its recipients, the mail its content.
import type { Principal } from '../../../core/callers/principal.ts';
import type { ProtocolDoor } from '../../../kit/protocol-server.ts';
import { slicedSha256 } from '../../../lib/sliced-digest.ts';

export interface Submission {
  readonly source: Buffer;
  readonly recipients: readonly string[];
  readonly principal: Principal;
  readonly remoteAddress: string;
  readonly signal: AbortSignal;
}

/** Sends it; answers the words of the 250. Throws the Problem of email.send. */
export type Submit = (door: ProtocolDoor, submission: Submission) => Promise<string>;

/**
 * A client that did not hear the 250 hands the same mail in again: it is sent once a day, and answered alike. Null: a mail without Message-ID,
 * of which nobody knows whether it is meant twice.
 */
export async function submissionKey(
  { source, recipients }: Submission,
  messageId: string | null,
): Promise<string | null> {
  if (messageId === null) return null;
  const digest = (await slicedSha256(source)).toString('hex');
  const named = Buffer.from(JSON.stringify([messageId, recipients, digest]));
  return `smtp ${Buffer.from(await crypto.subtle.digest('SHA-256', named)).toString('hex')}`;
}
