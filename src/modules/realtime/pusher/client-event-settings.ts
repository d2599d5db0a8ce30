// Cached account setting that allows client events; at most one second old.
import type { Queryable } from '../../../db/database.ts';
import { lruOf } from '../../../lib/lru.ts';
import { findAppRow } from '../app/store.ts';

const SETTINGS_MS = 1_000;
const REMEMBERED_MAX = 10_000;

export class ClientEventSettings {
  readonly #db: Queryable;
  readonly #known = lruOf<{ readonly isOn: boolean }>(REMEMBERED_MAX, { ttl: SETTINGS_MS });

  constructor(db: Queryable) {
    this.#db = db;
  }

  async areOn(accountId: string): Promise<boolean> {
    const known = this.#known.get(accountId);
    if (known !== undefined) return known.isOn;
    const isOn = (await findAppRow(this.#db, accountId))?.client_events ?? true;
    this.#known.set(accountId, { isOn });
    return isOn;
  }
}
