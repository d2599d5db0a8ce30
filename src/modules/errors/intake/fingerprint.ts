// Grouping of events (contract of errors, "Grouping key"). It reads the text as it was sent, before cleaning and scrubbing.
import { hash } from 'node:crypto';

/** What grouping looks at; texts exactly as sent, null or empty for what was not sent. */
export interface GroupingParts {
  readonly fingerprint: string | readonly string[] | null;
  readonly message: string | null;
  readonly exceptionType: string | null;
  readonly exceptionValue: string | null;
  readonly title: string | null;
  readonly code: string | null;
}

export interface Grouping {
  /** SHA-256 of the grouping key, 64 hex digits. */
  readonly fingerprint: string;
  readonly source: 'default' | 'user';
}

const NOTHING_KNOWN = 'error';
const DEFAULT_PART = /^\{\{\s*default\s*\}\}$/;

/** The fingerprint of an event: of the one that was sent, else of the default key. */
export function groupingOf(parts: GroupingParts): Grouping {
  const sent = sentKey(parts);
  if (sent === null) return { fingerprint: sha256(defaultKey(parts)), source: 'default' };
  return { fingerprint: sha256(sent), source: 'user' };
}

function sentKey(parts: GroupingParts): string | null {
  const { fingerprint } = parts;
  if (fingerprint === null || fingerprint.length === 0) return null;
  if (typeof fingerprint === 'string') return fingerprint;
  const filled = fingerprint.map((part) => (DEFAULT_PART.test(part) ? defaultKey(parts) : part));
  if (filled.length > 1) return JSON.stringify(filled);
  return filled[0] === '' ? null : (filled[0] as string);
}

function defaultKey({ message, exceptionType, exceptionValue, title, code }: GroupingParts): string {
  const exception = [exceptionType, exceptionValue].filter(Boolean).join(': ');
  return message || exception || title || code || NOTHING_KNOWN;
}

function sha256(text: string): string {
  return hash('sha256', text, 'hex');
}
