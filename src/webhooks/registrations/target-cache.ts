// Cache of decrypted targets. A row is compared with the one that was decrypted before, so a change takes effect from the next claim on.
import type { LRUCache } from 'lru-cache';
import type { Secrets } from '../../core/secrets/secrets.ts';
import { lruOf } from '../../lib/lru.ts';
import { type DeliveryTarget, type TargetRow, targetOf } from './store.ts';

const TARGETS_MAX = 20_000;

export class TargetCache {
  readonly #secrets: Secrets;
  readonly #known: LRUCache<string, { readonly row: TargetRow; readonly target: DeliveryTarget }>;

  constructor(secrets: Secrets, max = TARGETS_MAX) {
    this.#secrets = secrets;
    this.#known = lruOf(max);
  }

  /** Throws when the row was not encrypted by this deployment. */
  open(row: TargetRow): DeliveryTarget {
    const known = this.#known.get(row.webhook_id);
    if (known !== undefined && isSame(known.row, row)) return known.target;
    const target = targetOf(this.#secrets, row);
    this.#known.set(row.webhook_id, { row, target });
    return target;
  }
}

function isSame(a: TargetRow, b: TargetRow): boolean {
  return (
    a.url === b.url &&
    a.retry_policy === b.retry_policy &&
    a.timeout_seconds === b.timeout_seconds &&
    a.status === b.status &&
    isSameBytes(a.secret, b.secret) &&
    isSameBytes(a.previous_secret, b.previous_secret) &&
    isSameBytes(a.headers, b.headers)
  );
}

function isSameBytes(a: Buffer | null, b: Buffer | null): boolean {
  return a === null || b === null ? a === b : a.equals(b);
}
