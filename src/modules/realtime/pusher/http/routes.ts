// The routes of Pusher's HTTP API. They stand at the root, because its server libraries accept no path prefix.
import { runWrite } from '../../../../core/idempotency/write.ts';
import type { RawRoute } from '../../../../kit/raw-route.ts';
import { invalidField } from '../../../../problems/problem.ts';
import { isChannelName } from '../../channels.ts';
import { PUBLISH, PUBLISH_BODY_BYTES_MAX } from '../../limits.ts';
import { MEMBERS_MAX } from '../../presence/changes.ts';
import { type ChannelState, channelStates, membersOf, occupiedChannels } from '../../presence/read.ts';
import { terminateUser } from '../../presence/terminate.ts';
import { publishEvents } from '../../publish/publish.ts';
import type { RealtimeState } from '../../state.ts';
import { isUserId, socketChannel } from '../channels.ts';
import { lastMessage } from '../last-message.ts';
import { attributesOf, readBatch, readEvent, type SentEvent } from './read-events.ts';
import { type SignedCall, signedRoute } from './signed-route.ts';

/** Data stand in the body as a text of JSON, with escapes. */
const EVENT_BODY_BYTES_MAX = 2 * PUBLISH_BODY_BYTES_MAX;
/** Channels of one listing: libraries know no further page. */
const CHANNELS_LISTED_MAX = 1_000;

export const httpRoutes: readonly RawRoute<RealtimeState>[] = [
  signedRoute({
    method: 'POST',
    path: '/events',
    capability: PUBLISH,
    bodyBytesMax: EVENT_BODY_BYTES_MAX,
    async answer(call) {
      const events = await call.request.read(readEvent, call.request.body);
      const costNanos = await publishAll(call, events);
      const { channels, info } = events[0] as SentEvent;
      if (info.length === 0) return { data: {}, costNanos };
      const states = await statesOf(call, channels, info);
      return { data: { channels: Object.fromEntries(channels.map((channel, i) => [channel, states[i]])) }, costNanos };
    },
  }),
  signedRoute({
    method: 'POST',
    path: '/batch_events',
    capability: PUBLISH,
    bodyBytesMax: EVENT_BODY_BYTES_MAX,
    async answer(call) {
      const events = await call.request.read(readBatch, call.request.body);
      const costNanos = await publishAll(call, events);
      if (events.every(({ info }) => info.length === 0)) return { data: {}, costNanos };
      const batch: object[] = [];
      for (const { channels, info } of events) batch.push((await statesOf(call, channels, info))[0] ?? {});
      return { data: { batch }, costNanos };
    },
  }),
  signedRoute({
    method: 'GET',
    path: '/channels',
    capability: 'realtime.channels',
    async answer({ ctx, request: { query } }) {
      const prefix = query.get('filter_by_prefix') ?? '';
      if (prefix !== '' && !isChannelName(prefix))
        throw invalidField('filter_by_prefix', 'pattern', 'No channel has such a name.');
      const asked = attributesOf(query.get('info'));
      if (asked.includes('user_count') && !prefix.startsWith('presence-'))
        throw invalidField(
          'info',
          'user_count',
          'user_count is of presence channels only: filter_by_prefix must begin with presence-.',
        );
      const found = await occupiedChannels(ctx.core.db, ctx.accountId, {
        prefix,
        after: '',
        limit: CHANNELS_LISTED_MAX,
      });
      return { data: { channels: Object.fromEntries(found.map((each) => [each.channel, attributes(each, asked)])) } };
    },
  }),
  signedRoute({
    method: 'GET',
    path: '/channels/{channel}',
    capability: 'realtime.channels',
    async answer(call) {
      const channel = channelOf(call);
      const [state] = await statesOf(call, [channel], attributesOf(call.request.query.get('info')), true);
      return { data: state ?? {} };
    },
  }),
  signedRoute({
    method: 'GET',
    path: '/channels/{channel}/users',
    capability: 'realtime.members',
    async answer(call) {
      const channel = channelOf(call);
      if (socketChannel(channel)?.isPresence !== true)
        throw invalidField('channel', 'presence', 'Users are those of presence channels only.');
      const { core, accountId } = call.ctx;
      const users = await membersOf(core.db, accountId, channel, { after: '', limit: MEMBERS_MAX });
      return { data: { users: users.map(({ user_id: id }) => ({ id })) } };
    },
  }),
  signedRoute({
    method: 'POST',
    path: '/users/{user}/terminate_connections',
    capability: 'realtime.disconnect',
    async answer({ ctx, state, request: { params } }) {
      const userId = params.user;
      if (!isUserId(userId)) throw invalidField('user_id', 'pattern', 'No user has this id.');
      await runWrite(ctx, async (tx, { nowMs }) => terminateUser(tx, ctx.accountId, userId, nowMs));
      state.published(ctx.accountId);
      return { data: {} };
    },
  }),
];

function channelOf({ request: { params } }: SignedCall): string {
  const { channel = '' } = params;
  if (!isChannelName(channel)) throw invalidField('channel', 'pattern', 'No channel has this name.');
  return channel;
}

async function publishAll({ ctx, state }: SignedCall, events: readonly SentEvent[]): Promise<bigint> {
  const paramOf = (i: number) => (events.length === 1 ? 'data' : `batch[${i}].data`);
  return (await publishEvents(ctx, state, events, paramOf)).costNanos;
}

/** What is asked of channels, in their order. */
async function statesOf({ ctx }: SignedCall, channels: readonly string[], asked: readonly string[], occupied = false) {
  const { core, accountId } = ctx;
  const states = await channelStates(core.db, accountId, channels);
  const shown: object[] = [];
  for (const state of states) {
    const last = asked.includes('cache') ? await cachedMessage(core.db, accountId, state.channel) : {};
    shown.push({ ...(occupied ? { occupied: state.subscriptions > 0 } : {}), ...attributes(state, asked), ...last });
  }
  return shown;
}

function attributes({ subscriptions, users }: ChannelState, asked: readonly string[]) {
  return {
    ...(asked.includes('subscription_count') ? { subscription_count: subscriptions } : {}),
    ...(asked.includes('user_count') && users !== null ? { user_count: users } : {}),
  };
}

async function cachedMessage(db: Parameters<typeof lastMessage>[0], accountId: string, channel: string) {
  const last = socketChannel(channel)?.isCache === true ? await lastMessage(db, accountId, channel) : null;
  return last === null ? {} : { cache: { data: last.data } };
}
