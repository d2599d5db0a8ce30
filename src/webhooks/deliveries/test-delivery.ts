// Delivers a test event: numbered like any other and marked `test`, sent to one webhook at once, and never retried.

import type { Enter } from '../../core/callers/enter.ts';
import type { Core } from '../../core/core.ts';
import { type EventRow, eventText, fitData } from '../../core/events/wire.ts';
import { SHORT_SECONDS } from '../../core/outbound/long-calls.ts';
import { statement } from '../../db/statement.ts';
import { timestamp } from '../../db/types.ts';
import { newId } from '../../lib/ids.ts';
import { toJson } from '../../lib/json-text.ts';
import { iso } from '../../lib/time.ts';
import { findRegistration, readTargets } from '../registrations/store.ts';
import { numberEvent } from '../sequencer.ts';
import { type AttemptResult, attemptDelivery } from './attempt.ts';
import type { AttemptRecord, DeliveryRow } from './record.ts';
import { readDelivery } from './store.ts';

const insertFinished = statement(
  'test_delivery_insert',
  `INSERT INTO core.delivery (account_id, delivery_id, webhook_id, event_sequence, event_id, event_type, status, attempt, due_at,
                              http_status, error_code, latency_ms, response_snippet, request_headers, attempts, created_at, finished_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, 1, NULL, $8, $9, $10, $11, $12, $13, $14, core.clock_now())`,
);

type TestCore = Pick<Core, 'db' | 'secrets' | 'outbound' | 'region'>;

/**
 * Sends a test event of the first type the webhook subscribes to, with `dataObject` as data.object, whether the webhook is enabled
 * or not. One attempt, which changes nothing of the webhook. Answers the finished delivery, null when there is no such webhook.
 */
export async function deliverTest(
  core: TestCore,
  { accountId, requestId, enter }: { readonly accountId: string; readonly requestId: string; readonly enter: Enter },
  webhookId: string,
  dataObject: unknown,
): Promise<DeliveryRow | null> {
  const { db, secrets } = core;
  const registration = await findRegistration(db, secrets, accountId, webhookId);
  const [target] = registration === null ? [] : await readTargets(db, secrets, accountId, [webhookId]);
  if (registration === null || target === undefined) return null;
  const data = fitData(`{"object":${toJson(dataObject)}}`);
  const type = registration.events[0] as string;
  const event = await db.transaction(async (tx) => {
    await enter(tx);
    return numberEvent(tx, { accountId, type, data, requestId });
  });
  const body = eventText(event, core.region);
  // Bounded by the client itself: 15 s. It ends, and is recorded, also when the caller has gone away.
  const signal = new AbortController().signal;
  const result = await attemptDelivery(core.outbound, {
    target: { ...target, timeoutSeconds: SHORT_SECONDS },
    eventId: event.event_id,
    body,
    signal,
  });
  const deliveryId = newId('whd_', event.created_at);
  await db.query(insertFinished, [accountId, deliveryId, webhookId, ...valuesOf(event, result)]);
  return readDelivery(db, accountId, deliveryId);
}

function valuesOf(event: EventRow, result: AttemptResult) {
  const { httpStatus, errorCode, latencyMs } = result;
  const attempt: AttemptRecord = {
    attempt: 1,
    at: iso(event.created_at),
    http_status: httpStatus,
    error_code: errorCode,
    latency_ms: latencyMs,
  };
  return [
    event.sequence,
    event.event_id,
    event.type,
    result.verdict === 'succeeded' ? 'succeeded' : 'failed',
    httpStatus,
    errorCode,
    latencyMs,
    result.snippet,
    result.requestHeaders,
    JSON.stringify([attempt]),
    timestamp(event.created_at),
  ];
}
