// Test directives to the sandbox in the user's last message: fail, be slow, break off, report no usage.

import type { Refused } from '../../../../vendors/call/port.ts';

/** What it can fail with. */
const REASONS = [
  'VENDOR_TIMEOUT',
  'VENDOR_DOWN',
  'RATE_LIMIT_VENDOR',
  'VENDOR_AUTH_ERROR',
  'VALIDATION_FAILED',
  'VENDOR_ERROR',
  'CONTENT_REFUSED',
] as const satisfies readonly Refused['reason'][];

export interface Orders {
  /** Null: not at all. */
  readonly fail: Refused['reason'] | null;
  readonly slowMs: number;
  /** Ends after so many pieces of content; null: at its end. */
  readonly breakAfter: number | null;
  readonly tellsUsage: boolean;
}

const SLOW_MS_MAX = 10 * 60_000;

export function ordersIn(text: string): Orders {
  const broken = /\[\[break:(\d{1,6})\]\]/.exec(text)?.[1];
  return {
    fail:
      REASONS.find((reason) => text.includes(`[[fail:${reason}]]`)) ??
      (text.includes('[[fail:') ? 'VENDOR_ERROR' : null),
    slowMs: Math.min(Number(/\[\[slow:(\d{1,7})\]\]/.exec(text)?.[1] ?? 0), SLOW_MS_MAX),
    breakAfter: broken === undefined ? null : Number(broken),
    tellsUsage: !text.includes('[[no_usage]]'),
  };
}
