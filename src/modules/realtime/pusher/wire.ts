// Interfaces of a socket connection: the state and feed that it uses (Wire), and its view for its parts (Session).
import { appSecretCredential } from '../app/credentials.ts';
import type { AccountFeed } from '../feed/feed.ts';
import type { RealtimeState } from '../state.ts';
import type { Connection, Subscription } from './hub.ts';
import type { SignedApp } from './signatures.ts';

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

/** A connection as its parts know it. */
export interface Session extends Connection {
  readonly wire: Wire;
  readonly subscriptions: Map<string, Subscription>;
  /** Who has signed in on it; null: nobody. */
  readonly userId: string | null;
  readonly isClosed: boolean;
  /** Tells of what was not done. The connection goes on. */
  error(code: number | null, message: string, channel?: string): void;
  /** Tells that there is no subscription: to those who listen to the channel, and to those who listen to the connection. */
  refuse(channel: string, type: string, status: number, error: string): void;
  /** Ends a subscription. */
  leave(channel: string): void;
}
