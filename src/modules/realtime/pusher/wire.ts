// What sockets need of the module and the process.
import type { Core } from '../../../core/context.ts';
import { lruOf } from '../../../lib/lru.ts';
import { appSecretCredential } from '../app/credentials.ts';
import { findAppRow } from '../app/store.ts';
import type { AccountFeed } from '../feed/feed.ts';
import type { RealtimeState } from '../state.ts';
import type { SignedApp } from './signatures.ts';

const SETTINGS_MS = 1_000;
const REMEMBERED_MAX = 10_000;

/** Whether members may send events, by account, at most a second old. */
export class ClientEventSettings {
  readonly #db: Core['db'];
  readonly #known = lruOf<{ readonly isOn: boolean }>(REMEMBERED_MAX, { ttl: SETTINGS_MS });

  constructor(db: Core['db']) {
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

/** What one connection stands on. */
export interface Wire {
  readonly state: RealtimeState;
  readonly appKey: string;
  /** Entered by whoever opens the connection. */
  readonly feed: AccountFeed;
  /** Gives back what the connection has taken. */
  leave(): void;
}

/** Whether somebody who holds a living secret of the app has made the proof. */
export async function isProven({ state, appKey }: Wire, isRight: (app: SignedApp) => boolean): Promise<boolean> {
  const found = await appSecretCredential(appKey, (secret) => isRight({ key: appKey, secret })).find(state.core);
  return typeof found !== 'string';
}
