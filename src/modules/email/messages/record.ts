// Record of a mail in answers and events.
import { iso } from '../../../lib/time.ts';
import type { MessageRow, RecipientRow } from './row.ts';

export function emailRecord(row: MessageRow, recipients: readonly RecipientRow[]) {
  return {
    email_id: row.email_id,
    from: row.from_header,
    to: [...row.to_header],
    subject: row.subject,
    status: row.status,
    recipients: recipients.map(({ kind, address, status, code, detail, changed_at }) => ({
      address,
      kind,
      status,
      code,
      detail,
      changed_at: iso(changed_at),
    })),
    vendor: row.vendor,
    captured: row.captured,
    message_id: row.message_id,
    tags: [...row.tags],
    send_at: iso(row.send_at),
    created_at: iso(row.created_at),
    sent_at: row.sent_at === null ? null : iso(row.sent_at),
  };
}
