// Rows of a mail and its recipients, and the mail's status, which follows from its recipients.

export const recipientStatuses = [
  ...(['scheduled', 'queued', 'deferred', 'failed', 'bounced', 'cancelled'] as const),
  ...(['indeterminate', 'sent', 'delivered', 'suppressed'] as const),
] as const;

/** `indeterminate`: it was handed over, and the relay's answer is not known. */
export type MailStatus = (typeof recipientStatuses)[number];

/** The relay took it, or may have: it is charged. */
const TAKEN: readonly MailStatus[] = ['sent', 'delivered', 'indeterminate'];
const PENDING: readonly MailStatus[] = ['scheduled', 'queued', 'deferred'];

export type RecipientKind = 'to' | 'cc' | 'bcc';

export interface RecipientRow {
  readonly email_id: string;
  readonly number: number;
  readonly kind: RecipientKind;
  readonly address: string;
  readonly status: MailStatus;
  readonly sending: boolean;
  /** Once the relay took it, the mail keeps being charged for it, whatever a report says later. */
  readonly taken: boolean;
  readonly code: string | null;
  readonly detail: string | null;
  readonly changed_at: number;
}

export interface MessageRow {
  readonly account_id: string;
  readonly email_id: string;
  readonly key_id: string;
  readonly request_id: string;
  readonly capability: string;
  readonly from_header: string;
  readonly from_address: string;
  readonly from_domain: string;
  readonly to_header: readonly string[];
  readonly subject: string;
  readonly message_id: string;
  readonly tags: readonly string[];
  readonly unsubscribe: boolean;
  readonly track_opens: boolean;
  readonly track_clicks: boolean;
  readonly status: MailStatus;
  readonly captured: boolean;
  readonly vendor: string;
  readonly vendor_pinned: boolean;
  readonly source_bytes: bigint;
  readonly source_stored: boolean;
  readonly hold_id: string;
  readonly unit_nanos: bigint;
  readonly send_at: number;
  readonly due_at: number | null;
  readonly attempt: number;
  readonly deferrals: number;
  readonly created_at: number;
  readonly sent_at: number | null;
}

export const isPending = (status: MailStatus) => PENDING.includes(status);
export const isTaken = (status: MailStatus) => TAKEN.includes(status);

/** That of the least advanced recipient; suppressed ones count only where there are no others. */
export function statusOf(recipients: readonly { readonly status: MailStatus }[]): MailStatus {
  const rank = ({ status }: { readonly status: MailStatus }) => recipientStatuses.indexOf(status);
  const least = recipients.reduce((one, other) => (rank(other) < rank(one) ? other : one));
  return least.status;
}

/** Each recipient has a mail of its own: what stands in it is known by the recipient. */
export function hasOwnCopies(row: Pick<MessageRow, 'unsubscribe' | 'track_opens' | 'track_clicks'>): boolean {
  return row.unsubscribe || row.track_opens || row.track_clicks;
}
