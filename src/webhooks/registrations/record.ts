// Record of a webhook registration for calls (contract of webhooks). The signing secret is included only when it was just set.

import { maskHeaders } from '../../core/outbound/target-headers.ts';
import { iso, isoOrNull } from '../../lib/time.ts';
import type { Registration } from './store.ts';

export function registrationRecord(registration: Registration) {
  return {
    webhook_id: registration.webhookId,
    url: registration.url,
    events: registration.events,
    description: registration.description,
    retry_policy: registration.retryPolicy,
    timeout_seconds: registration.timeoutSeconds,
    headers: maskHeaders(registration.headers),
    status: registration.status,
    disabled_reason: registration.disabledReason,
    disabled_at: isoOrNull(registration.disabledAtMs),
    failed_attempts: registration.failedAttempts,
    failing_since: isoOrNull(registration.failingSinceMs),
    secret_last4: registration.secretLast4,
    created_at: iso(registration.createdAtMs),
    updated_at: iso(registration.updatedAtMs),
  };
}
