// Wire format of an API key.
import { usd } from '../../lib/money.ts';
import { iso, isoOrNull } from '../../lib/time.ts';
import type { KeyCap } from '../callers/key-cap.ts';
import type { StoredKey } from './store.ts';

/** The key as callers see it (contract §2). */
export function keyRecord(key: StoredKey) {
  return {
    key_id: key.keyId,
    project_id: key.projectId,
    name: key.name,
    scopes: key.scopes,
    status: key.status,
    prefix: key.prefix,
    last4: key.last4,
    created_at: iso(key.createdAtMs),
    updated_at: iso(key.updatedAtMs),
    last_used_at: isoOrNull(key.lastUsedAtMs),
    expires_at: isoOrNull(key.expiresAtMs),
    rotating_until: isoOrNull(key.rotatingUntilMs),
    revoked_at: isoOrNull(key.revokedAtMs),
    revoked_reason: key.revokedReason,
    flagged_at: isoOrNull(key.flaggedAtMs),
    ...capRecord(key.cap),
  };
}

/** The same where a secret was minted: by the specification's name, and by the one that all that is shown once has. */
export function keyWithSecret(key: StoredKey, secret: string) {
  return { ...keyRecord(key), key_secret: secret, secret };
}

function capRecord(cap: KeyCap | null) {
  if (cap === null) {
    const none = { spend_used_usd: null, spend_held_usd: null, spend_window_end: null };
    return { spend_cap_usd: null, spend_cap_period: null, ...none };
  }
  return {
    spend_cap_usd: usd(cap.cap),
    spend_cap_period: cap.period,
    spend_used_usd: usd(cap.used),
    spend_held_usd: usd(cap.held),
    spend_window_end: isoOrNull(cap.endsAtMs),
  };
}
