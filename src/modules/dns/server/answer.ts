// Answers to DNS messages, from the zones of this service alone: no recursion, no updates, no zone transfers.

import { CLASSES, TYPES } from '../wire/message.ts';
import { countOne, type DnsCounts } from './counts.ts';
import { bareReply, type Query, type Reply, readQuery, writeReply, writeUnread } from './message.ts';
import type { ZoneData } from './zone-data.ts';
import type { ServedZones } from './zones.ts';

const REFUSED = bareReply('REFUSED');

/** Null: it gets no answer. `room`: bytes that the answer may have. */
export function answerTo(
  message: Buffer,
  zones: ServedZones,
  counts: DnsCounts,
  room: (query: Query) => number,
): Buffer | null | Promise<Buffer> {
  const query = readQuery(message);
  if (query === null) {
    countOne(counts.dropped, 'no query');
    return null;
  }
  if ('rcode' in query) {
    countOne(counts.answers, query.rcode);
    return writeUnread(query);
  }
  const reply = replyTo(query, zones);
  const replyBytes = (said: Reply) => {
    countOne(counts.answers, said.rcode);
    return writeReply(query, said, room(query));
  };
  return reply instanceof Promise ? reply.then(replyBytes) : replyBytes(reply);
}

function replyTo(query: Query, zones: ServedZones): Reply | Promise<Reply> {
  if (query.edns !== null && query.edns.version > 0) return bareReply('BADVERS');
  if (query.class !== CLASSES.IN || query.type === TYPES.AXFR || query.type === TYPES.IXFR) return REFUSED;
  const zone = zones.zoneOf(query.name);
  if (zone === null) return REFUSED;
  const data = zones.data(zone);
  return data instanceof Promise ? data.then((read) => answerOf(read, query)) : answerOf(data, query);
}

function answerOf(data: ZoneData | null, query: Query): Reply {
  return data === null ? bareReply('SERVFAIL') : data.answer(query);
}
