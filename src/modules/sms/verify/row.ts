// A verification as it is stored and shown.
import { iso } from '../../../lib/time.ts';

export type VerificationStatus = 'pending' | 'approved' | 'expired' | 'failed';

export interface VerificationRow {
  readonly account_id: string;
  readonly verification_id: string;
  readonly to_address: string;
  readonly channel: 'sms' | 'email';
  readonly prefix: string;
  readonly code_hash: Buffer;
  readonly status: VerificationStatus;
  readonly attempts_left: number;
  readonly message_id: string | null;
  readonly created_at: number;
  readonly expires_at: number;
  readonly ended_at: number | null;
}

/** The capability that starts one; what its messages are booked under. */
export const VERIFY_START = 'sms.verify.start';

export const verificationColumns =
  'account_id, verification_id, to_address, channel, prefix, code_hash, status, attempts_left, message_id, created_at, expires_at, ended_at';

/** Of the message that carries its code. */
export function verificationIdOf(smsId: string): string {
  return smsId.replace(/^sms_/, 'ver_');
}

/** Verification. */
export function verificationRecord(row: VerificationRow) {
  return {
    verification_id: row.verification_id,
    to: row.to_address,
    channel: row.channel,
    status: row.status,
    attempts_left: row.attempts_left,
    message_id: row.message_id,
    created_at: iso(row.created_at),
    expires_at: iso(row.expires_at),
  };
}
