// A message as it is stored, and as calls and events show it.

import { usd } from '../../../lib/money.ts';
import { iso, isoOrNull } from '../../../lib/time.ts';
import type { VendorRegion } from '../../../vendors/file/port.ts';
import type { SmsEncoding } from '../segments.ts';

export type SmsStatus = 'queued' | 'sent' | 'delivered' | 'failed' | 'received';

export interface MessageRow {
  readonly account_id: string;
  readonly sms_id: string;
  readonly direction: 'outbound' | 'inbound';
  readonly key_id: string;
  readonly request_id: string | null;
  readonly to_number: string;
  readonly from_number: string;
  readonly text: string;
  readonly sealed_text: Buffer | null;
  readonly encoding: SmsEncoding;
  readonly segments: number;
  readonly status: SmsStatus;
  readonly error_code: string | null;
  readonly detail: string | null;
  readonly vendor: string;
  /** JSON of Link[]. */
  readonly chain: string;
  readonly captured: boolean;
  readonly hold_id: string | null;
  readonly capability: string;
  readonly cost_nanos: bigint;
  readonly sending: boolean;
  readonly due_at: number | null;
  readonly attempt: number;
  readonly created_at: number;
  readonly sent_at: number | null;
  readonly ended_at: number | null;
}

/** One carrier that a message may be handed to, as the call froze it. */
export interface Link {
  readonly vendor: string;
  readonly model: string;
  readonly region: VendorRegion;
  readonly markupPct: 0 | 0.05;
  readonly priceVersion: string;
  readonly from: string;
  /** Of the whole message, nano-USD as text. */
  readonly nanos: string;
}

export const messageColumns = `account_id, sms_id, direction, key_id, request_id, to_number, from_number, text, sealed_text, encoding, segments, status,
          error_code, detail, vendor, chain, captured, hold_id, capability, cost_nanos, sending, due_at, attempt, created_at, sent_at, ended_at`;

export function chainOf({ chain }: Pick<MessageRow, 'chain'>): readonly [Link, ...Link[]] {
  return JSON.parse(chain);
}

/** Sms. */
export function smsRecord(row: MessageRow) {
  return {
    sms_id: row.sms_id,
    direction: row.direction,
    to: row.to_number,
    from: row.from_number,
    text: row.text,
    encoding: row.encoding,
    segments: row.segments,
    status: row.status,
    error_code: row.error_code,
    detail: row.detail,
    vendor: row.vendor,
    captured: row.captured,
    cost_usd: usd(row.cost_nanos),
    created_at: iso(row.created_at),
    sent_at: isoOrNull(row.sent_at),
    ended_at: isoOrNull(row.ended_at),
  };
}
