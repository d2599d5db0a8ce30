// The carrier interface: a carrier takes messages, and later reports receipts and inbound messages. Implementations speak different wires.
import type { RawAnswer, RawRequest } from '../../../kit/raw-route.ts';
import type { NotSent, OutcomeUnknown, Refused } from '../../../vendors/call/port.ts';

export interface OutboundSms {
  readonly smsId: string;
  readonly accountId: string;
  readonly to: string;
  readonly from: string;
  readonly text: string;
}

/** `references`: what the carrier calls the message, part by part. `captured`: it went nowhere. */
export interface Accepted {
  readonly kind: 'accepted';
  readonly references: readonly string[];
  readonly captured: boolean;
}

/** `code`: what the carrier said, for `code_detail`. */
export type SubmitOutcome = Accepted | (Refused & { readonly code: string | null }) | OutcomeUnknown | NotSent;

/** What became of a message that was handed over. */
export interface Receipt {
  readonly status: 'delivered' | 'failed';
  /** What the carrier calls the reason; null where there is none. */
  readonly errorCode: string | null;
}

export interface InboundSms {
  readonly from: string;
  readonly to: string;
  readonly text: string;
  /** What the carrier calls it: a repeat has the same. Null: nothing. */
  readonly reference: string | null;
}

/** Whom a carrier tells. Each answers once it is stored. */
export interface CarrierListener {
  /** By the id of the message. False: there is no such message, or not yet. */
  receipt(accountId: string, smsId: string, receipt: Receipt): Promise<boolean>;
  /** By what the carrier calls the part; it may be written in several ways. */
  receiptOf(vendor: string, references: readonly string[], receipt: Receipt): Promise<boolean>;
  inbound(vendor: string, message: InboundSms): Promise<void>;
}

export interface Carrier {
  /** Once; never throws for what the carrier does. */
  submit(message: OutboundSms, signal: AbortSignal): Promise<SubmitOutcome>;
  /** What the carrier calls back by HTTP; absent: it has another way. Throws NOT_FOUND for what it has not signed. */
  readCallback?(request: RawRequest, listener: CarrierListener): Promise<RawAnswer>;
  close?(): Promise<void>;
}
