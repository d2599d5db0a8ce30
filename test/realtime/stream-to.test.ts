// What a model says reaches a channel in pieces, whichever wire the call came by, and can be read again after a reload.
import OpenAI from 'openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listen, RealtimeBench, type StreamedEvent } from './harness.ts';

let shared: RealtimeBench;
beforeAll(async () => {
  shared = await RealtimeBench.start();
});
afterAll(() => shared.service.stop());

const WORDS = 'one two three four five six seven eight nine ten '.repeat(40);
const ask = { model: 'sandbox/echo-1', messages: [{ role: 'user' as const, content: WORDS }] };

async function toTheEnd(stream: { next(): Promise<StreamedEvent | null> }): Promise<StreamedEvent[]> {
  const events: StreamedEvent[] = [];
  for (let event = await stream.next(); event !== null; event = await stream.next()) {
    events.push(event);
    if (event.data.event === 'ai.end' || event.data.event === 'ai.failed') break;
  }
  return events;
}

const textOf = (events: readonly StreamedEvent[]) =>
  events.map(({ data }) => (data.event === 'ai.delta' ? data.data.text : '')).join('');

test('a native call is published from its start to its end, in order', async () => {
  const own = await shared.another();
  const stream = await own.listen('chat-1');
  const reply = await own.call('POST', '/v1/ai/chat', { ...ask, stream_to: 'chat-1' });
  expect(reply.status).toBe(200);
  const events = await toTheEnd(stream);
  stream.leave();
  expect(events[0]?.data).toMatchObject({ event: 'ai.start', data: { request_id: reply.body.metadata.request_id } });
  expect(textOf(events)).toBe(reply.body.data.choices[0].message.content);
  expect(events.at(-1)?.data).toMatchObject({
    event: 'ai.end',
    data: { finish_reason: 'stop', model: 'sandbox/echo-1' },
  });
  const deltas = events.filter(({ data }) => data.event === 'ai.delta');
  expect(deltas.map(({ data }) => data.data.index)).toEqual(deltas.map((_, i) => i));
});

test('a stream of the OpenAI client is published too, and a page that reloads goes on where it was', async () => {
  const own = await shared.another();
  const { token } = await own.ok('POST', 'authorize', { channels: ['chat-2'] });
  const page = await listen(own.service.url, `token=${token}`, null);
  const openai = new OpenAI({ baseURL: `${own.service.url}/v1`, apiKey: own.account.secret });
  const chunks = await openai.chat.completions.create(
    { ...ask, stream: true },
    { headers: { 'X-QM-Stream-To': 'chat-2' } },
  );
  const seen = await page.take(2);
  page.leave();
  let said = '';
  for await (const chunk of chunks) said += chunk.choices[0]?.delta.content ?? '';
  const reloaded = await listen(own.service.url, `token=${token}`, null, seen.at(-1)?.id);
  const events = [...seen, ...(await toTheEnd(reloaded))];
  reloaded.leave();
  expect(said.length).toBeGreaterThan(WORDS.length / 2);
  expect(textOf(events)).toBe(said);
  expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
});

test('a channel that cannot be published to is refused before the model is asked', async () => {
  const reply = await shared.call('POST', '/v1/ai/chat', { ...ask, stream_to: 'no spaces' });
  expect(reply).toMatchObject({ status: 400, body: { error: { param: 'stream_to' } } });
  const own = await shared.another(['ai.chat']);
  const refused = await own.call('POST', '/v1/ai/chat', { ...ask, stream_to: 'chat' });
  expect(refused).toMatchObject({ status: 403, body: { error: { code: 'INSUFFICIENT_SCOPE' } } });
  expect(refused.body.metadata.cost_usd).toBe(0);
});

test('a caller that leaves ends what is published', async () => {
  const own = await shared.another();
  const stream = await own.listen('chat-3');
  const leaving = new AbortController();
  const sent = fetch(`${own.service.url}/v1/chat/completions`, {
    method: 'POST',
    signal: leaving.signal,
    body: JSON.stringify({ ...ask, stream: true, stream_to: 'chat-3' }),
    headers: { authorization: `Bearer ${own.account.secret}`, 'content-type': 'application/json' },
  });
  await stream.take(2);
  leaving.abort();
  await sent.then((reply) => reply.text()).catch(() => undefined);
  const events = await toTheEnd(stream);
  expect(['ai.failed', 'ai.end']).toContain(events.at(-1)?.data.event);
  stream.leave();
});
