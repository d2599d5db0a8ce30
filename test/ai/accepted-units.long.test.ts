// Tokens that are charged are those that the module counts beside the ledger, whatever door a call comes in by and however it ends.
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { acceptedUnits } from '../../src/core/wallet/ledger/accepted-units.ts';
import { modules } from '../../src/modules/index.ts';
import { examineAccount } from '../../src/upkeep/doctor.ts';
import { eventually } from '../cron/harness.ts';
import { chunk, frame, opening, usage } from '../support/ai/openai-double.ts';
import { createPlace, startProcess } from '../support/process.ts';
import { client, SECRETS_KEY } from '../support/service.ts';
import { BatchCaller } from './batches-harness.ts';
import { AiVendors, PATIENT } from './vendors-bench.ts';

let bench: AiVendors;
beforeAll(async () => {
  bench = await AiVendors.start({}, undefined, {}, { timeouts: PATIENT });
});
afterAll(() => bench?.stop());
afterEach(() => bench.forgive());

const messages = [{ role: 'user', content: 'Hello.' }];
const CHAT = '/v1/chat/completions';
/** What the doubles say that a chat used; of embeddings it is one for each input. */
const CHAT_TOKENS = 15n;

const ledgerUnits = {
  name: 'test_ai_ledger_units',
  text: `SELECT l.capability, sum(l.units)::bigint AS units FROM core.ledger l
          WHERE l.account_id = $1 AND l.kind IN ('charge', 'capture', 'reversal') GROUP BY l.capability`,
};

/** Counted by the module; the ledger has as many, and the doctor finds nothing. */
async function counted(): Promise<{ chat: bigint; embed: bigint }> {
  const { db } = bench.service.core;
  const { accountId } = bench.account;
  const accepted = await acceptedUnits(db, accountId);
  const { rows } = await db.query<{ capability: string; units: bigint }>(ledgerUnits, [accountId]);
  expect(new Map(rows.map(({ capability, units }) => [capability, units]))).toEqual(accepted);
  const findings = await examineAccount({ db, secrets: null, modules }, accountId);
  expect(findings.map(({ message }) => message)).toEqual([]);
  return { chat: accepted.get('ai.chat') ?? 0n, embed: accepted.get('ai.embed') ?? 0n };
}

/** What `act` adds to the counts. */
async function adds(act: () => Promise<unknown>): Promise<{ chat: bigint; embed: bigint }> {
  const before = await counted();
  await act();
  await eventually(async () => (await bench.funds()).held === 0n);
  const after = await counted();
  return { chat: after.chat - before.chat, embed: after.embed - before.embed };
}

const ok = async (path: string, body: object) => {
  const { status, text } = await bench.call('POST', path, body);
  expect(status, text).toBe(200);
};

const none = { chat: 0n, embed: 0n };
/** The words differ: by any door the same chat is the same to the cache. */
const chatOf = (content: string, over: object = {}) => ({ messages: [{ role: 'user', content }], ...over });
const answered = [
  ['ai.chat', '/v1/ai/chat', chatOf('One.'), { chat: CHAT_TOKENS }],
  ['chat/completions', CHAT, chatOf('Two.'), { chat: CHAT_TOKENS }],
  ['a streamed chat', CHAT, chatOf('Three.', { stream: true }), { chat: CHAT_TOKENS }],
  ['responses', '/v1/responses', { input: 'Four.' }, { chat: CHAT_TOKENS }],
  ['streamed responses', '/v1/responses', { input: 'Five.', stream: true }, { chat: CHAT_TOKENS }],
  ['ai.embed', '/v1/ai/embed', { input: ['A boat.', 'Rain.'] }, { embed: 2n }],
  ['embeddings', '/v1/embeddings', { input: ['A boat.', 'Snow.'] }, { embed: 2n }],
] as const;

test.each(answered)(
  '%s: what is charged is counted; a repeat of it and an answer from the cache are not',
  async (name, path, body, tokens) => {
    const kept = { ...body, cache_ttl_seconds: 60, idempotency_key: name };
    expect(await adds(() => ok(path, kept))).toEqual({ ...none, ...tokens });
    expect(await adds(() => ok(path, kept))).toEqual(none);
    expect(await adds(() => ok(path, { ...body, cache_ttl_seconds: 60 }))).toEqual(none);
  },
);

test('of a vendor that does not tell its usage the tokens that were reckoned are counted', async () => {
  bench.acme.next({
    stream: [opening, frame(chunk({ content: 'Hello.' })), frame(chunk({}, 'stop')), 'data: [DONE]\n\n'],
  });
  const { chat } = await adds(() => ok(CHAT, { messages, stream: true }));
  expect(chat).toBeGreaterThan(0n);
});

test('requests of a batch are counted once each, and those that fail are not', async () => {
  const it = new BatchCaller(bench.service, bench.account);
  const of = (custom_id: string, capability: string, body: object) => ({ custom_id, capability, body });
  const requests = [
    of('chat', 'ai.chat', { messages }),
    of('embed', 'ai.embed', { input: ['A boat.', 'Rain.', 'Snow.'] }),
    of('unknown', 'ai.chat', { messages, model: 'acme/none' }),
  ];
  const added = await adds(async () => {
    const batch = await it.over((await it.create(requests)).batch_id);
    expect(batch.counts).toEqual({ total: 3, succeeded: 2, failed: 1 });
  });
  expect(added).toEqual({ chat: CHAT_TOKENS, embed: 3n });
});

test('calls that fail before any content are not counted, one that breaks off is, as far as its vendor told', async () => {
  const failing = async () => {
    bench.acme.next('reset');
    bench.corp.next('reset');
    const { status } = await bench.call('POST', CHAT, { messages });
    expect(status).toBeGreaterThanOrEqual(500);
  };
  expect(await adds(failing)).toEqual(none);
  await bench.forgive();
  const told = frame({ ...chunk({}), choices: [], usage });
  bench.acme.next({ stream: [opening, frame(chunk({ content: 'Half ' })), told], ends: 'reset' });
  expect(await adds(() => bench.stream({ messages }))).toEqual({ ...none, chat: CHAT_TOKENS });
});

test('of a client that disconnects in the middle the tokens that it is charged are counted', async () => {
  bench.acme.next({ stream: [opening, frame(chunk({ content: 'Half ' }))], ends: 'silence' });
  const { chat } = await adds(async () => {
    const leaving = new AbortController();
    const response = await fetch(`${bench.service.url}${CHAT}`, {
      method: 'POST',
      body: JSON.stringify({ messages, stream: true }),
      signal: leaving.signal,
      headers: { authorization: `Bearer ${bench.account.secret}`, 'content-type': 'application/json' },
    });
    await response.body?.getReader().read();
    leaving.abort();
    await eventually(() => bench.acme.seen[0]?.left === true);
  });
  expect(chat).toBeGreaterThan(0n);
});

test('of a process that is killed in the middle of an answer nothing is counted', async () => {
  const place = await createPlace({
    ...bench.env,
    DATABASE_URL: bench.service.database.url,
    SECRETS_KEY,
    LOG_LEVEL: 'silent',
    TEST_CLOCK: 'on',
  });
  const dying = await startProcess(place);
  bench.acme.next({ stream: [opening, frame(chunk({ content: 'Half ' }))], ends: 'silence' });
  const added = await adds(async () => {
    const asked = client(dying.url, bench.account.secret)('POST', CHAT, { messages, stream: true }).catch(() => null);
    await eventually(async () => (await bench.funds()).held > 0n && bench.acme.seen.length > 0);
    await dying.end('SIGKILL');
    await asked;
    await bench.service.advance(61);
    await bench.service.core.holds.expireOverdue(new AbortController().signal);
  });
  await place.remove();
  expect(added).toEqual(none);
});
