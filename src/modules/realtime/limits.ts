// Limits and constants of the realtime module.
import { HOUR_MS } from '../../lib/time.ts';

export const PUBLISH = 'realtime.publish';
/** What listening is a call of, whatever the wire. */
export const LISTEN = 'realtime.history';

/** Channels of one publish, of one connection, and of one stream. */
export const CHANNELS_MAX = 100;
export const CHANNEL_CHARACTERS_MAX = 200;
export const EVENT_CHARACTERS_MAX = 200;
export const USER_CHARACTERS_MAX = 128;
/** Of a batch that a server library sends. */
export const BATCH_MAX = 10;

/** Data of a message, in KiB: unless the operator says otherwise, and the most that he may say. */
export const MESSAGE_KIB = 10;
export const MESSAGE_KIB_MAX = 256;
/** A message of the longest data, with its channels. */
export const PUBLISH_BODY_BYTES_MAX = (MESSAGE_KIB_MAX + 64) * 1024;
/** What a message takes in memory beside its data: in a lane, and while a stream has not read it. */
export const MESSAGE_BYTES = 512;

/** How long messages can be read again, in seconds. */
export const HISTORY_SECONDS = { min: 0, usual: 120, max: 72 * 3_600 } as const;
/** So much of history stands in realtime.message; longer ones also in realtime.kept_message. */
export const NEAR_HISTORY_MS = HOUR_MS;

/** Connections of an account, by sockets and by streams. */
export const connections = { standard: 500, pro: 5_000, enterprise: 50_000 } as const;
/** Who has so many bytes to read is closed. */
export const UNREAD_BYTES_MAX = 1024 * 1024;
/** The same of all streams of a process, each message counted once; an account has half of it when it is alone. Then who is behind is closed. */
export const STREAMS_UNREAD_BYTES_MAX = 64 * 1024 * 1024;

/** Of a token with which a browser listens. */
export const TOKEN_SECONDS = { min: 60, usual: 3_600, max: 86_400 } as const;
