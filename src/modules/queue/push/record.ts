// A push subscription, on the wire and as stored. Its signing secret and custom headers are stored encrypted, bound to its id.

import { maskHeaders } from '../../../core/outbound/target-headers.ts';
import type { Secrets } from '../../../core/secrets/secrets.ts';
import { iso } from '../../../lib/time.ts';
import type { SubscriptionRow } from './subscription-store.ts';

const SECRET_LABEL = 'push-secret';
const HEADERS_LABEL = 'push-headers';

type TargetHeaders = Readonly<Record<string, string>>;

export interface PushTarget {
  /** `whsec_…` */
  readonly secret: string;
  readonly headers: TargetHeaders;
}

/** The columns `secret` and `headers`. */
export function sealTarget(secrets: Secrets, subscriptionId: string, { secret, headers }: PushTarget) {
  const hasHeaders = Object.keys(headers).length > 0;
  return {
    secret: secrets.encrypt(SECRET_LABEL, subscriptionId, secret),
    headers: hasHeaders ? secrets.encrypt(HEADERS_LABEL, subscriptionId, JSON.stringify(headers)) : null,
  };
}

export function openTarget(secrets: Secrets, row: SubscriptionRow): PushTarget {
  return {
    secret: secrets.decrypt(SECRET_LABEL, row.subscription_id, row.secret),
    headers: openHeaders(secrets, row),
  };
}

/** The record without the secret. `active`: the only status so far. */
export function subscriptionRecord(secrets: Secrets, row: SubscriptionRow, queue: string) {
  return {
    subscription_id: row.subscription_id,
    queue,
    url: row.url,
    status: 'active',
    headers: maskHeaders(openHeaders(secrets, row)),
    visibility_timeout: row.visibility_timeout,
    timeout_seconds: row.timeout_seconds,
    max_in_flight: row.max_in_flight,
    secret_last4: row.secret_last4,
    created_at: iso(row.created_at),
  };
}

function openHeaders(secrets: Secrets, row: SubscriptionRow): TargetHeaders {
  if (row.headers === null) return {};
  return JSON.parse(secrets.decrypt(HEADERS_LABEL, row.subscription_id, row.headers)) as TargetHeaders;
}
