// In-process state of the realtime module: local subscribers, and the hints by which processes learn of new messages.
import type { Services } from '../../kit/services.ts';
import { Deliveries } from './feed/delivery.ts';
import { Feeds } from './feed/feed.ts';
import { Hints } from './feed/hints.ts';
import { STREAMS_UNREAD_BYTES_MAX } from './limits.ts';
import { Occupancy } from './presence/occupancy.ts';
import { PublishEffect } from './publish/effect.ts';
import { ClientEventSettings } from './pusher/client-event-settings.ts';
import { Hub } from './pusher/hub.ts';
import type { RealtimeSettings } from './settings.ts';

export interface RealtimeState {
  readonly core: Services;
  readonly settings: RealtimeSettings;
  readonly feeds: Feeds;
  readonly hints: Hints;
  readonly publishing: PublishEffect;
  readonly hub: Hub;
  readonly occupancy: Occupancy;
  readonly clientEvents: ClientEventSettings;
  /** Of the account there are new messages. */
  published(accountId: string): void;
}

export function startRealtime(core: Services, settings: RealtimeSettings): RealtimeState {
  const { db, connection, log } = core;
  const feeds = new Feeds({
    db: db.hot,
    deliveries: new Deliveries(STREAMS_UNREAD_BYTES_MAX),
    now: Date.now,
    onError: (err) => log.warn({ err }, 'messages could not be read; they are read again'),
  });
  const hints = new Hints({
    db,
    connection,
    processId: core.processes.id,
    heard: (accountId) => feeds.wake(accountId),
    onError: (err) => log.warn({ err }, 'hints of messages are away; they are looked for once a second'),
  });
  const announce = (accountId: string) => {
    feeds.wake(accountId);
    hints.tell(accountId);
  };
  const hub = new Hub();
  const sockets = { hub, occupancy: new Occupancy(core, hub, announce), clientEvents: new ClientEventSettings(db) };
  return { core, settings, feeds, hints, publishing: new PublishEffect(announce), ...sockets, published: announce };
}

export async function closeRealtime({ feeds, hints, occupancy }: RealtimeState): Promise<void> {
  feeds.close();
  await occupancy.close();
  await hints.close();
}
