// A process that calls models, killed at random moments: whatever it had done by then, a repeat of each call is charged once in all.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { BatchCaller } from '../ai/batches-harness.ts';
import { AiVendors, PATIENT } from '../ai/vendors-bench.ts';
import { completionOf, type Deed, embeddingsAnswer, type Seen, streamOf } from '../support/ai/openai-double.ts';
import { openaiWire } from '../support/ai/wires.ts';
import { createPlace, type Place, startProcess } from '../support/process.ts';
import { client, createTestAccount, SECRETS_KEY } from '../support/service.ts';
import { randomOf, rounds, seed } from '../support/soak.ts';

const CREDIT = 1_000_000_000n;
const CALL_NANOS = 21_000n;

let bench: AiVendors;
let place: Place;
beforeAll(async () => {
  bench = await AiVendors.start({}, openaiWire, {}, { timeouts: PATIENT });
  const { env, service } = bench;
  const further = { DATABASE_URL: service.database.url, SECRETS_KEY, TEST_CLOCK: 'on', LOG_LEVEL: 'silent' };
  place = await createPlace({ ...env, ...further });
});
afterAll(async () => {
  await place?.remove();
  await bench?.stop();
});

/** The holds of dead processes end. */
async function aMinuteLater(): Promise<void> {
  await bench.service.advance(61);
  const { holds } = bench.service.core;
  while (await holds.expireOverdue(new AbortController().signal));
}

const VECTOR_NANOS = 1_050n;
const messages = [{ role: 'user', content: 'Hello.' }];
/** All that a process does for one account, side by side. */
const asks: readonly (readonly [string, object])[] = [
  ['/v1/chat/completions', { messages, stream: true, idempotency_key: 'streamed' }],
  ['/v1/chat/completions', { messages, idempotency_key: 'whole' }],
  ['/v1/embeddings', { input: 'Hello.', idempotency_key: 'vectors' }],
];
const ALL_NANOS = 2n * CALL_NANOS + VECTOR_NANOS;
const EVERY_MS = 30;
const piece = (text: string, size = Math.ceil(text.length / 6)) =>
  Array.from({ length: 6 }, (_, i) => text.slice(i * size, (i + 1) * size));
const slow = (seen: Seen): Deed => {
  if (seen.body.stream === true) return { stream: streamOf('One two three four five.'), everyMs: EVERY_MS };
  const isChat = seen.path.endsWith('/completions');
  const whole = isChat ? completionOf('One two three four five.') : embeddingsAnswer(1, seen.body.encoding_format);
  return { stream: piece(JSON.stringify(whole)), type: 'application/json', everyMs: EVERY_MS };
};

test(`a process dies at any moment of its calls: a repeat at another one is charged once in all, with SEED=${seed}`, {
  timeout: 180_000,
}, async () => {
  const random = randomOf(seed);
  for (let round = 0; round < rounds(15); round += 1) {
    const it = new BatchCaller(bench.service, await createTestAccount(bench.service.core, 1));
    const dying = await startProcess(place);
    bench.acme.rule = slow;
    const call = client(dying.url, it.account.secret);
    const asked = asks.map(([path, body]) => call('POST', path, body).catch(() => null));
    const atMs = random(600);
    await sleep(atMs);
    await dying.end('SIGKILL');
    await Promise.all(asked);
    await aMinuteLater();
    const what = `killed after ${atMs} ms in round ${round}`;
    const before = await it.spent(CREDIT);
    bench.acme.reset();
    const again = await Promise.all(asks.map(([path, body]) => it.call('POST', path, { ...body, stream: false })));
    expect(
      again.map(({ status }) => status),
      what,
    ).toEqual([200, 200, 200]);
    const costs = [CALL_NANOS, CALL_NANOS, VECTOR_NANOS];
    const replayed = again.map(({ body }) => body.service_metadata.idempotent_replay === true);
    const paid = costs.reduce((sum, cost, i) => (replayed[i] ? sum + cost : sum), 0n);
    expect([before, await it.spent(CREDIT)], what).toEqual([paid, ALL_NANOS]);
  }
});
