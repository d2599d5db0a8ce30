// What a caller asks, and what a vendor says of it, stands in no log line and nowhere in the database as it is, also where the vendor quotes it.
import { inspect } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Logger } from '../../src/core/process/logger.ts';
import { chunk, completionOf, frame, opening } from '../support/ai/openai-double.ts';
import { BatchCaller } from './batches-harness.ts';
import { AiVendors } from './vendors-bench.ts';

const MARK = 'marzipan-7391';
const lines: string[] = [];
const write = (...args: unknown[]) => void lines.push(inspect(args, { depth: 12 }));
const log = { debug: write, info: write, warn: write, error: write, fatal: write } as Logger;

let bench: AiVendors;
beforeAll(async () => {
  bench = await AiVendors.start({}, undefined, {}, { log });
});
afterAll(() => bench?.stop());

const say = (over: object = {}) => ({ messages: [{ role: 'user', content: `What of ${MARK}?` }], ...over });
const error = (code: string) => ({ error: { message: `no: "What of ${MARK}?"`, code } });

/** Every row of every table as text, but for the inputs that the request log shows to their own account. */
async function everything(): Promise<string> {
  const { db } = bench.service.core;
  const { rows } = await db.query<{ name: string }>(
    {
      name: '',
      text: `SELECT format('%I.%I', table_schema, table_name) AS name FROM information_schema.tables
              WHERE table_schema NOT IN ('pg_catalog', 'information_schema') AND table_type = 'BASE TABLE'`,
    },
    [],
  );
  const texts: string[] = [];
  for (const { name } of rows) {
    const table = await db.query<{ row: string }>(
      { name: '', text: `SELECT (to_jsonb(t) - 'input')::text AS row FROM ${name} t` },
      [],
    );
    texts.push(...table.rows.map(({ row }) => row));
  }
  return texts.join('\n');
}

test('a prompt that vendors quote is told to its caller alone', async () => {
  const refused = { status: 400, body: error('invalid_request_error') };
  const down = { status: 500, body: error('server_error') };
  const half = { stream: [opening, frame(chunk({ content: MARK })), frame(error('server_error'))] };
  bench.acme.next(
    refused,
    down,
    half,
    { status: 400, body: error('content_filter') },
    { status: 200, body: completionOf(MARK) },
  );
  bench.corp.next({ status: 503, body: error('overloaded') });
  const told = [
    await bench.call('POST', '/v1/chat/completions', say()),
    await bench.call('POST', '/v1/ai/chat', say({ idempotency_key: 'k-1' })),
    await bench.stream(say()),
    await bench.call('POST', '/v1/ai/chat', say()),
    await bench.call('POST', '/v1/ai/chat', say({ idempotency_key: 'k-2', cache_ttl_seconds: 60 })),
  ];
  expect(told.map(({ status }) => status)).toEqual([400, 503, 200, 400, 200]);
  const batches = new BatchCaller(bench.service, bench.account);
  bench.acme.next(refused, { status: 200, body: completionOf(MARK) });
  const { batch_id: id } = await batches.create(
    ['a', 'b'].map((custom_id) => ({ custom_id, capability: 'ai.chat', body: say() })),
  );
  await batches.over(id);
  const results = await batches.results(id);
  // What the caller can mend is told in the vendor's words.
  expect(results.filter((one) => one.error?.message.includes(MARK))).toHaveLength(1);
  expect(lines.filter((line) => line.includes('a vendor has not answered a call')).length).toBeGreaterThan(2);
  expect(lines.filter((line) => line.includes(MARK))).toEqual([]);
  await bench.service.core.requests.flush();
  const rows = await everything();
  const { items } = (await bench.call('GET', '/v1/account/requests/list?code=CONTENT_REFUSED')).body.data;
  expect(items[0].message).toBe('The vendor refuses the content of the request.');
  expect(items[0].input).toContain(MARK);
  expect(rows).toContain(id);
  expect(rows).not.toContain(MARK);
  expect(rows).not.toContain(Buffer.from(MARK).toString('hex'));
});
