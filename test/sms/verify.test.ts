// Codes: how they are sent and stored, how many there are, and that nobody guesses one.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PERSON, SmsBench } from './harness.ts';

let bench: Awaited<ReturnType<typeof SmsBench.start>>;
beforeAll(async () => {
  bench = await SmsBench.start();
});
afterAll(() => bench.stop());

const start = (own: SmsBench, over: object = {}) => own.ok('POST', '/v1/sms/verify/start', { to: PERSON, ...over });
const check = (own: SmsBench, verification_id: string, code: string) =>
  own.ok('POST', '/v1/sms/verify/check', { verification_id, code });
/** As the sandbox shows it. */
const codeOf = async (own: SmsBench, { message_id }: { message_id: string }) =>
  /\d{4,10}/.exec((await own.get(message_id)).text)?.[0] ?? '';
const wrong = (code: string) => (code[0] === '0' ? '1' : '0') + code.slice(1);

test('the right code approves, once', async () => {
  const own = await bench.another();
  const one = await start(own);
  expect(one).toMatchObject({ status: 'pending', to: PERSON, channel: 'sms', attempts_left: 5 });
  const code = await codeOf(own, one);
  expect(code).toMatch(/^\d{6}$/);
  expect(await check(own, one.verification_id, code)).toEqual({
    verification_id: one.verification_id,
    status: 'approved',
    attempts_left: 5,
  });
  const again = await own.refused('/v1/sms/verify/check', { verification_id: one.verification_id, code });
  expect(again).toMatchObject({ status: 409, code: 'STATE_CONFLICT' });
});

test('a code that was checked stands in no request log, though its check failed', async () => {
  const own = await bench.another();
  const one = await start(own);
  const code = await codeOf(own, one);
  await check(own, one.verification_id, code);
  const { body } = await own.call('POST', '/v1/sms/verify/check', { verification_id: one.verification_id, code });
  expect(body.error.code).toBe('STATE_CONFLICT');
  const logged = async () => (await own.call('GET', `/v1/account/requests/get/${body.error.request_id}`)).body.data;
  await expect.poll(async () => (await logged())?.input ?? null).not.toBeNull();
  const { input } = await logged();
  expect(input).toContain(one.verification_id);
  expect(input).not.toContain(code);
});

test('text and length are as asked for; a text without its place is refused', async () => {
  const own = await bench.another();
  const one = await start(own, { text: 'Acme: {code}. Not you? Ignore {code}.', length: 8 });
  const { text } = await own.get(one.message_id);
  expect(text).toMatch(/^Acme: (\d{8})\. Not you\? Ignore \1\.$/);
  expect(await own.refused('/v1/sms/verify/start', { to: PERSON, text: 'No place' })).toMatchObject({
    status: 400,
    param: 'text',
    code_detail: 'code_place',
  });
});

test('five wrong codes end it: then the right one counts no more', async () => {
  const own = await bench.another();
  const one = await start(own);
  const code = await codeOf(own, one);
  for (const left of [4, 3, 2, 1]) {
    expect(await check(own, one.verification_id, wrong(code))).toMatchObject({
      status: 'pending',
      attempts_left: left,
    });
  }
  expect(await check(own, one.verification_id, wrong(code))).toMatchObject({ status: 'failed', attempts_left: 0 });
  expect(await check(own, one.verification_id, code)).toMatchObject({ status: 'failed', attempts_left: 0 });
});

test('a hundred tries at once are five', async () => {
  const own = await bench.another();
  const one = await start(own);
  const code = await codeOf(own, one);
  const tries = await Promise.all(Array.from({ length: 100 }, () => check(own, one.verification_id, wrong(code))));
  const pending = tries.filter(({ status }) => status === 'pending').map(({ attempts_left: left }) => left);
  expect(pending.sort()).toEqual([1, 2, 3, 4]);
  expect(tries.filter(({ status }) => status === 'failed')).toHaveLength(96);
  expect(await check(own, one.verification_id, code)).toMatchObject({ status: 'failed' });
});

test('a code ends with its time', async () => {
  const timed = await SmsBench.start();
  try {
    const one = await start(timed, { expires_seconds: 60 });
    const code = await codeOf(timed, one);
    await timed.service.advance(61);
    expect(await check(timed, one.verification_id, code)).toMatchObject({ status: 'expired', attempts_left: 0 });
  } finally {
    await timed.stop();
  }
});

test('the code of one verification is none of another', async () => {
  const own = await bench.another();
  const [one, two] = [await start(own), await start(own, { to: '+12025550177' })];
  const [code, other] = [await codeOf(own, one), await codeOf(own, two)];
  if (code !== other) expect(await check(own, two.verification_id, code)).toMatchObject({ status: 'pending' });
});

test('nothing that is stored but the captured text shows the code', async () => {
  const own = await bench.another();
  const one = await start(own, { length: 10 });
  const code = await codeOf(own, one);
  const { rows } = await bench.service.core.db.query<{ found: string }>(
    {
      name: 'test_sms_verification',
      text: 'SELECT to_jsonb(v)::text AS found FROM sms.verification v WHERE v.account_id = $1',
    },
    [own.accountId],
  );
  expect(rows).toHaveLength(1);
  expect(rows[0]?.found).not.toContain(code);
  expect((await own.call('GET', '/v1/sms/verify/list')).text).not.toContain(code);
});

describe('codes to one number', () => {
  test('are five in any hour, also at once and with RATE_LIMITS=off', async () => {
    const timed = await SmsBench.start();
    try {
      const replies = await Promise.all(
        Array.from({ length: 12 }, () => timed.call('POST', '/v1/sms/verify/start', { to: PERSON })),
      );
      expect(replies.filter(({ status }) => status === 200)).toHaveLength(5);
      const refused = replies.find(({ status }) => status === 429);
      expect(refused?.body.error).toMatchObject({ code: 'RATE_LIMITED', code_detail: 'codes_per_hour', param: 'to' });
      expect(await start(timed, { to: '+12025550178' })).toMatchObject({ status: 'pending' });
      await timed.service.advance(3_500);
      expect(await timed.refused('/v1/sms/verify/start', { to: PERSON })).toMatchObject({ status: 429 });
      await timed.service.advance(101);
      expect(await start(timed)).toMatchObject({ status: 'pending' });
    } finally {
      await timed.stop();
    }
  });

  test('that were refused for want of credit do not count', async () => {
    const poor = await bench.another(0.001);
    for (let n = 0; n < 6; n += 1) {
      expect(await poor.refused('/v1/sms/verify/start', { to: PERSON })).toMatchObject({ status: 402 });
    }
  });
});

test('codes to numbers of one calling code are bounded for an account, whatever numbers they are', async () => {
  const own = await bench.another(50);
  const numbers = Array.from({ length: 61 }, (_, n) => `+1202555${1_000 + n}`);
  const replies = await Promise.all(numbers.map((to) => own.call('POST', '/v1/sms/verify/start', { to })));
  expect(replies.filter(({ status }) => status === 200)).toHaveLength(60);
  expect(replies.find(({ status }) => status === 429)?.body.error).toMatchObject({ code_detail: 'codes_per_prefix' });
  expect(await start(own, { to: '+4915112345678' })).toMatchObject({ status: 'pending' });
});

test('a repeat with the same key sends no second code', async () => {
  const own = await bench.another();
  const headers = { 'idempotency-key': 'code' };
  const [first, second] = [
    await own.call('POST', '/v1/sms/verify/start', { to: PERSON }, headers),
    await own.call('POST', '/v1/sms/verify/start', { to: PERSON }, headers),
  ];
  expect(first.status, first.text).toBe(200);
  expect(second.body.data).toEqual(first.body.data);
  const together = await Promise.all(
    Array.from({ length: 10 }, () =>
      own.call('POST', '/v1/sms/verify/start', { to: PERSON }, { 'idempotency-key': 'together' }),
    ),
  );
  expect(new Set(together.map(({ body }) => JSON.stringify(body.data))).size).toBe(1);
  expect(together[0]?.status).toBe(200);
});

describe('by mail', () => {
  const mailed = (own: SmsBench, to: string, over: object = {}) =>
    own.ok('POST', '/v1/sms/verify/start', { to, channel: 'email', ...over });

  test('a code is sent by email.send of the account, at its price, and checked in the same way', async () => {
    const own = await bench.another();
    const one = await mailed(own, 'ada@example.org', { text: 'Acme: {code}', from: 'acme@example.com' });
    expect(one).toMatchObject({ channel: 'email', status: 'pending', to: 'ada@example.org' });
    const mail = await own.ok('GET', `/v1/email/get/${one.message_id}`);
    expect(mail).toMatchObject({ captured: true, subject: 'Your verification code' });
    const source = await (
      await fetch(`${bench.service.url}/v1/email/raw/${one.message_id}`, {
        headers: { authorization: `Bearer ${own.secret}` },
      })
    ).text();
    const code = /Acme: (\d{6})/.exec(source)?.[1] ?? '';
    expect(await own.balance()).toBeCloseTo(5 - 0.00046, 9);
    expect(await check(own, one.verification_id, code)).toMatchObject({ status: 'approved' });
  });

  test('five codes an hour go to a mailbox, however it is written', async () => {
    const own = await bench.another();
    const ways = ['bob@example.org', 'Bob@example.org', 'bob+1@example.org', 'BOB+x@EXAMPLE.org', 'bob@example.org'];
    for (const to of ways) await mailed(own, to);
    const other = await bench.another();
    const refused = await other.refused('/v1/sms/verify/start', { to: 'bob+2@example.org', channel: 'email' });
    expect(refused).toMatchObject({ status: 429, code_detail: 'codes_per_hour' });
  });

  test('an address that is none is refused, and its code ends', async () => {
    const own = await bench.another();
    expect(await own.refused('/v1/sms/verify/start', { to: 'nobody', channel: 'email' })).toMatchObject({
      status: 400,
    });
    expect((await own.ok('GET', '/v1/sms/verify/list?status=pending')).items).toEqual([]);
  });
});

test('a sender that is none is refused in the sandbox too', async () => {
  const error = await bench.refused('/v1/sms/verify/start', { to: PERSON, from: 'somebody@example.org' });
  expect(error).toMatchObject({ status: 400, param: 'from', code_detail: 'sender' });
});
