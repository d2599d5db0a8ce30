// Status of a domain after a check of its DNS records. A verified domain survives three days without them; one that lacks its key for three days
// has failed.
import { DAY_MS, MINUTE_MS } from '../../../lib/time.ts';
import type { DomainRecord } from './records.ts';

export type DomainStatus = 'pending' | 'verified' | 'failed';

export interface Standing {
  readonly status: DomainStatus;
  /** Since when required records have been missing; null: none is. */
  readonly missing_since: number | null;
}

export interface Judged extends Standing {
  /** When its records are looked at again. */
  readonly dueMs: number;
}

const PATIENCE_MS = 3 * DAY_MS;
const SOON_MS = 10 * MINUTE_MS;

/** @param before null: a new domain, or one that had failed and is tried anew. */
export function judgeDomain(before: Standing | null, records: readonly DomainRecord[], nowMs: number): Judged {
  const lacking = records.filter(({ required, status }) => required && status !== 'ok');
  if (lacking.length === 0) return { status: 'verified', missing_since: null, dueMs: nowMs + DAY_MS };
  const missingSince = before?.missing_since ?? nowMs;
  const isPatient = nowMs - missingSince < PATIENCE_MS;
  const dueMs = nowMs + (isPatient ? SOON_MS : DAY_MS);
  const lacksKey = lacking.some(({ purpose }) => purpose === 'dkim');
  return { status: statusOf(before?.status ?? 'pending', isPatient, lacksKey), missing_since: missingSince, dueMs };
}

function statusOf(before: DomainStatus, isPatient: boolean, lacksKey: boolean): DomainStatus {
  if (isPatient) return before === 'verified' ? 'verified' : 'pending';
  return lacksKey ? 'failed' : 'pending';
}
