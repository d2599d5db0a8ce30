// GET /v1/realtime/stream: messages of channels as Server-Sent Events, by an API key and a list of channels, or by a token that names them. A
// reader resumes with Last-Event-ID, which browsers send by themselves, and misses nothing of the history.

import Type from 'typebox';
import { bearer } from '../../../core/credentials/http-schemes.ts';
import { clockNow } from '../../../core/database-clock.ts';
import type { RawAnswer, RawHead, RawRequest, RawRoute } from '../../../kit/raw-route.ts';
import type { CallContext } from '../../../kit/services.ts';
import { mayFollow, streamBeat, streamHeaders } from '../../../kit/tail.ts';
import { sequenceAt } from '../../../lib/sequence.ts';
import { invalidField, problem } from '../../../problems/problem.ts';
import { historySecondsOf } from '../app/settings.ts';
import { isChannelName } from '../channels.ts';
import { enterConnection } from '../connections.ts';
import { CHANNELS_MAX, LISTEN } from '../limits.ts';
import { messageId, seqOfMessage } from '../publish/message.ts';
import type { RealtimeState } from '../state.ts';
import { StreamSubscription } from './subscription.ts';
import { readToken } from './token.ts';

/** How long a stream waits before it looks whether its key, or token, still may listen. */
const LOOK_EVERY_MS = 2_000;
/** Clients come again after so long. */
const RETRY_TEXT = 'retry: 1000\n\n';
// The token, or the key, decides; no cookie is looked at.
const HEADERS = { ...streamHeaders, 'access-control-allow-origin': '*' };

const text = (description: string) => Type.Optional(Type.String({ description }));
const streamQuery = Type.Object({
  channels: text('Names of channels, with commas between them; not with a token, which names them.'),
  token: text('In place of a key.'),
  last_event_id: text('The id of the last event that was seen, where the header Last-Event-ID cannot be set.'),
});

export const streamRoute: RawRoute<RealtimeState> = {
  name: 'realtime.stream',
  methods: ['GET'],
  path: '/v1/realtime/stream',
  capability: LISTEN,
  stream: 'answer',
  eventStream: {
    summary: 'Follows the messages of channels, for a key, or for a token of realtime.authorize.',
    query: streamQuery,
    event: 'A message: {message_id, channel, event, data, user_id, published_at}; its id resumes.',
  },
  bodyBytesMax: 1,
  credentialOf: (head) => tokenOf(head)?.credential ?? bearer(head),
  answer: openStream,
};

function tokenOf({ query }: RawHead) {
  const token = query.get('token');
  return token === null ? null : readToken(token, Date.now);
}

async function openStream(request: RawRequest, state: RealtimeState): Promise<RawAnswer> {
  const { core, feeds } = state;
  const grant = tokenOf(request)?.grant ?? null;
  const ctx = request.ctx ?? (await request.admit(null));
  const channels = grant?.channels ?? askedChannels(request.query);
  const after = askedAfter(request);
  const leavePlace = await enterConnection(core, ctx);
  let subscription: StreamSubscription | null = null;
  const end = once(() => {
    leavePlace();
    subscription?.end();
    if (subscription !== null) feeds.leave(ctx.accountId);
  });
  try {
    state.hints.listen();
    const feed = await feeds.enter(ctx.accountId);
    subscription = new StreamSubscription(core.db, feed, channels, after ?? 0n);
    const { position } = feed;
    const missed = after === null ? null : await missedSince(ctx, after);
    if (request.signal.aborted) end();
    else request.signal.addEventListener('abort', end, { once: true });
    const body = follow(
      ctx,
      { subscription, missed, position, expiresMs: grant?.expiresMs ?? null },
      request.signal,
      end,
    );
    return { status: 200, headers: HEADERS, body, beat: streamBeat };
  } catch (error) {
    end();
    throw error;
  }
}

interface Missed {
  readonly after: bigint;
  readonly nowMs: number;
  /** What came behind `after` is not kept whole any more. */
  readonly isCut: boolean;
}

async function missedSince({ core, accountId }: CallContext, after: bigint): Promise<Missed> {
  const [nowMs, seconds] = await Promise.all([clockNow(core.db), historySecondsOf(core.db, accountId)]);
  const oldest = sequenceAt(nowMs - seconds * 1_000);
  return after < oldest ? { after: oldest, nowMs, isCut: true } : { after, nowMs, isCut: false };
}

interface Followed {
  readonly subscription: StreamSubscription;
  readonly missed: Missed | null;
  /** Where what comes begins. */
  readonly position: bigint;
  readonly expiresMs: number | null;
}

async function* follow(
  { principal, capability }: CallContext,
  { subscription, missed, position, expiresMs }: Followed,
  signal: AbortSignal,
  end: () => void,
): AsyncGenerator<string | Buffer> {
  try {
    yield RETRY_TEXT;
    if (missed?.isCut === true) yield 'event: gap\ndata: {"reason":"history_ended"}\n\n';
    if (missed !== null) yield* subscription.missedEvents(missed.after, position, missed.nowMs);
    // Who has seen nothing yet begins here when it comes again.
    else yield `id: ${messageId(position)}\n\n`;
    for (let lookedMs = performance.now(); !signal.aborted && !subscription.isTooSlow; ) {
      const bytes = await subscription.next(LOOK_EVERY_MS);
      if (bytes !== null) yield bytes;
      if (performance.now() - lookedMs < LOOK_EVERY_MS) continue;
      lookedMs = performance.now();
      if (expiresMs !== null && expiresMs <= Date.now()) return;
      if (!mayFollow(await principal.kind.again(principal), capability)) return;
    }
  } finally {
    end();
  }
}

/** Throws VALIDATION_FAILED. */
function askedChannels(query: URLSearchParams): readonly string[] {
  if (query.has('token')) throw problem('INVALID_API_KEY', { message: 'The token is none of this service.' });
  const channels = [...new Set(query.getAll('channels').flatMap((list) => list.split(',')))];
  if (channels.length > CHANNELS_MAX)
    throw invalidField('channels', 'maxItems', `A stream has up to ${CHANNELS_MAX} channels.`);
  if (!channels.every(isChannelName))
    throw invalidField('channels', 'pattern', 'channels must be names of channels, separated by commas.');
  return channels;
}

/** Browsers send the header; what cannot set one sends `last_event_id`. Throws VALIDATION_FAILED. */
function askedAfter({ headers, query }: RawHead): bigint | null {
  const sent = headers['last-event-id'] ?? query.get('last_event_id') ?? '';
  if (sent === '') return null;
  const seq = seqOfMessage(String(sent));
  if (seq === null) throw invalidField('last_event_id', 'pattern', 'last_event_id must be the id of a message.');
  return seq;
}

function once(act: () => void): () => void {
  let isDone = false;
  return () => {
    if (!isDone) act();
    isDone = true;
  };
}
