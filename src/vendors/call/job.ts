// Port of a vendor's jobs, for one wire protocol, whatever they make. An adapter stores nothing about jobs: what polling needs is in the
// attempt's row. It never retries, and never throws for a vendor's failure: every outcome is one of the kinds below.
import type { Readable } from 'node:stream';
import type { TSchema } from 'typebox';
import type { BreakerEffect, NotSent, OutcomeUnknown, Refused, VendorCall } from './port.ts';

/** A job at the vendor: stored as it is in the attempt's row as soon as the vendor has accepted. */
export interface VendorJob {
  /** The vendor's id. */
  readonly reference: string;
  /** What else later calls need, such as URLs of the vendor's answer; at most 8 KiB as JSON. */
  readonly details: Readonly<Record<string, string>>;
}

export type JobSubmission =
  | {
      readonly kind: 'accepted';
      readonly job: VendorJob;
      /** Files of what came with the answer, in a place for work; whoever submits removes them. Absent: it is to be polled and fetched. */
      readonly paths?: readonly string[];
    }
  | Refused
  | OutcomeUnknown
  | NotSent;

/** What the vendor bills: the units it reports, the whole quote, or nothing. */
export type JobBill = 'nothing' | 'quote' | { readonly units: number };

/** `Made`: where what was made can be fetched. */
export type JobProgress<Made> =
  | {
      readonly kind: 'queued' | 'running';
      /** 0 to 100, where the vendor says it. */
      readonly progressPct: number | null;
      /** The vendor's word for what it does. */
      readonly step: string | null;
      /** For the operator's log: the answer says something that the adapter does not know. */
      readonly warning: string | null;
    }
  | ({ readonly kind: 'succeeded'; readonly bill: JobBill } & Made)
  | {
      readonly kind: 'failed';
      readonly code: 'CONTENT_REFUSED' | 'VENDOR_ERROR';
      readonly message: string;
      readonly vendorSaid: string | null;
      readonly bill: JobBill;
    }
  | { readonly kind: 'cancelled'; readonly bill: JobBill }
  /** The vendor gave up for reasons of time. */
  | { readonly kind: 'expired'; readonly bill: JobBill }
  /** The vendor does not know the job (any more), or has thrown away what it made. */
  | { readonly kind: 'gone' }
  /** Nothing is known now. It never fails a job. */
  | { readonly kind: 'unanswered'; readonly breaker: BreakerEffect; readonly message: string };

export type JobCancellation =
  /** It has stopped. */
  | { readonly kind: 'stopped'; readonly bill: JobBill }
  /** It was told; polling shows what becomes of it. */
  | { readonly kind: 'requested' }
  /** It cannot stop, or it is too late; polling shows what becomes of it. */
  | { readonly kind: 'impossible' }
  | { readonly kind: 'unanswered'; readonly breaker: BreakerEffect; readonly message: string };

export type JobDownload =
  | {
      readonly kind: 'opened';
      /** By the bytes, not by what the vendor says. */
      readonly contentType: 'video/mp4' | 'video/webm' | 'image/jpeg' | 'image/png' | 'image/webp';
      /** Null when the vendor does not say. */
      readonly sizeBytes: number | null;
      /** All bytes; to be read to its end, or destroyed. Fails when the vendor breaks off, dawdles or exceeds the limit. */
      readonly body: Readable;
    }
  /** `again`: later, or from a fresh URL (`gone`: surely from a fresh one). `unsound`: what is there is no such file and never will be. */
  | { readonly kind: 'again' | 'gone' | 'unsound'; readonly message: string };

export interface VendorCallback {
  /** Of the attempt's work. */
  readonly model: string;
  readonly options: Readonly<Record<string, unknown>>;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Uint8Array;
  readonly nowMs: number;
}

export type CallbackReading =
  /** `signed`: the vendor's signature fits; else only the token speaks for it. Wakes a poll, and is not believed beyond that. */
  | { readonly kind: 'taken'; readonly signed: boolean; readonly job: VendorJob | null }
  | { readonly kind: 'forged'; readonly message: string }
  /** Whether it is genuine cannot be told now. */
  | { readonly kind: 'unanswered'; readonly message: string };

export type JobSearch =
  | { readonly kind: 'found'; readonly job: VendorJob }
  /** It was not seen among the latest, which proves nothing. */
  | { readonly kind: 'not_found' }
  | { readonly kind: 'unanswered'; readonly message: string };

export interface JobAdapter<Work, Made> {
  /** As in `adapter:` of the configuration. */
  readonly name: string;
  /** Where its vendor usually is; without one the configuration must say. */
  readonly baseUrl?: string;
  /** Fields of a model's row that only this adapter has, by their name in the file. */
  readonly modelFields: Readonly<Record<string, TSchema>>;
  submit(call: VendorCall, work: Work): Promise<JobSubmission>;
  poll(call: VendorCall, job: VendorJob): Promise<JobProgress<Made>>;
  cancel(call: VendorCall, job: VendorJob): Promise<JobCancellation>;
  download(call: VendorCall, url: string): Promise<JobDownload>;
  /** Looks for an attempt whose answer was lost, where the wire can; with its work's token and options. */
  find?(call: VendorCall, token: string, options: Readonly<Record<string, unknown>>): Promise<JobSearch>;
  /** Removes the vendor's copy, where the wire can; `true` when it is gone. */
  purge?(call: VendorCall, job: VendorJob): Promise<boolean>;
  /** Reads a call at our callback address, where the vendor makes them. The token in the address has been found before. */
  readCallback?(call: VendorCall, callback: VendorCallback): Promise<CallbackReading>;
}

/** What is wrong with a field of a model's row. */
export interface ModelFault {
  readonly field: string;
  readonly message: string;
}
