// Reads events from the body of a PostHog client (posthog.com/docs/api/capture; posthog-node 5, posthog-js 1). A body is one event, a list, or
// `batch` with the time at which it was sent. Long ones are read in a thread.
import type { BodyTask } from '../../../kit/raw-route.ts';
import { parseInstant } from '../../../lib/instant.ts';
import { problem } from '../../../problems/problem.ts';
import type { Members } from '../intake/person-change.ts';
import { Intake, type ReadyEvents } from '../intake/ready-events.ts';
import { AHEAD_MS_MAX, FOREIGN_EVENTS_MAX } from '../limits.ts';
import { jsonOf } from './form.ts';

/** Beside the body: who sent it, where that is a browser. */
interface Envelope {
  readonly userAgent: string | null;
}

/** The body with what the task is to know beside it, on a line before it. */
export function withEnvelope(envelope: Envelope, body: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${JSON.stringify(envelope)}\n`), body]);
}

export const readPosthog: BodyTask<ReadyEvents> = {
  source: import.meta.url,
  id: 'analytics.posthog',
  run: (enveloped) => {
    const end = enveloped.indexOf(10);
    const { userAgent } = JSON.parse(enveloped.toString('utf8', 0, end)) as Envelope;
    return readEvents(parseJson(jsonOf(enveloped.subarray(end + 1)).toString('utf8')), userAgent, Date.now());
  },
};

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw problem('INVALID_REQUEST', { message: 'The body is not valid JSON.', cause });
  }
}

function readEvents(body: unknown, userAgent: string | null, nowMs: number): ReadyEvents {
  const intake = new Intake(nowMs, FOREIGN_EVENTS_MAX);
  const shared = membersOf(body);
  const batch = [body, shared?.batch, shared?.data].find(Array.isArray) as readonly unknown[] | undefined;
  const behindMs = clockError(shared?.sent_at, nowMs);
  for (const each of batch ?? [body]) {
    const event = membersOf(each);
    if (event === null) intake.reject('An event must be an object.');
    else readEvent(intake, event, behindMs, userAgent);
  }
  return intake.ready();
}

function readEvent(intake: Intake, sent: Members, behindMs: number, userAgent: string | null): void {
  const properties: Members = membersOf(sent.properties) ?? {};
  const { event, uuid } = sent;
  const distinctId = idOf(sent.distinct_id ?? sent.$distinct_id ?? properties.distinct_id ?? properties.$distinct_id);
  if (typeof event !== 'string' || distinctId === null) {
    intake.reject('An event must have event and distinct_id.');
    return;
  }
  const { $set = properties.$set, $set_once = properties.$set_once, messageId } = sent;
  const own = typeof uuid === 'string' ? uuid : typeof messageId === 'string' ? messageId : null;
  intake.add(
    {
      event,
      distinctId,
      properties: {
        ...properties,
        ...($set === undefined ? {} : { $set }),
        ...($set_once === undefined ? {} : { $set_once }),
      },
      timeMs: timeOf(sent, behindMs, intake.nowMs),
      uuid: own === '' ? null : own,
    },
    userAgent,
  );
}

/** As the client's clock says, put right by what that says of when the call was sent; never later than the call. */
function timeOf({ timestamp, offset }: Members, behindMs: number, nowMs: number): number {
  if (typeof offset === 'number' && offset >= 0) return nowMs - offset;
  const said = typeof timestamp === 'string' ? (parseInstant(timestamp) ?? Date.parse(timestamp)) : Number.NaN;
  if (Number.isNaN(said)) return nowMs;
  const timeMs = said + behindMs;
  return timeMs > nowMs + AHEAD_MS_MAX ? nowMs : timeMs;
}

/** How far the client's clock is behind; what a request takes on its way is no error. */
function clockError(sentAt: unknown, nowMs: number): number {
  const said = typeof sentAt === 'string' ? (parseInstant(sentAt) ?? Number.NaN) : Number.NaN;
  const behindMs = nowMs - said;
  return Number.isNaN(behindMs) || Math.abs(behindMs) < AHEAD_MS_MAX ? 0 : behindMs;
}

function idOf(value: unknown): string | null {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : null;
}

function membersOf(value: unknown): Members | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : null;
}
