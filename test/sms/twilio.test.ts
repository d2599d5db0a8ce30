// Messages by Twilio: what it is sent, what its answers come to, and what it may call back.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { PERSON, SECRET, SmsBench } from './harness.ts';
import { ACCOUNT_SID, TwilioDouble } from './twilio-double.ts';

const OURS = '+12025550100';
let twilio: TwilioDouble;
let bench: Awaited<ReturnType<typeof SmsBench.start>>;
beforeAll(async () => {
  twilio = await TwilioDouble.open();
  const entry = {
    adapter: 'twilio',
    base_url: twilio.url,
    account_sid: ACCOUNT_SID,
    auth_token: SECRET,
    from: [OURS, 'ACME'],
  };
  bench = await SmsBench.start({ vendors: [{ ...entry, id: 'twilio', price: 0.01 }] });
});
afterAll(async () => {
  await bench.stop();
  twilio.close();
});
beforeEach(() => {
  twilio.messages.splice(0);
  twilio.answer = () => twilio.accepted();
});

test('a message goes out as a form, at the price of the entry with markup, and the account sees no secret', async () => {
  const own = await bench.another();
  const reply = await own.call('POST', '/v1/sms/send', { to: PERSON, text: 'Your table is ready. ü & €' });
  expect(reply.body.data).toMatchObject({
    status: 'sent',
    from: OURS,
    vendor: 'twilio',
    captured: false,
    cost_usd: 0.0105,
  });
  expect(reply.body.metadata).toMatchObject({ vendor: 'twilio', markup_pct: 0.05, cost_usd: 0.0105 });
  const [form] = twilio.messages;
  expect([form?.get('To'), form?.get('From'), form?.get('Body')]).toEqual([PERSON, OURS, 'Your table is ready. ü & €']);
  expect(twilio.authorizations.at(-1)).toBe(`Basic ${Buffer.from(`${ACCOUNT_SID}:${SECRET}`).toString('base64')}`);
  expect(reply.text).not.toContain(SECRET);
  expect(await own.balance()).toBeCloseTo(5 - 0.0105, 9);
});

test('a call may be from another sender of the entry, and from no other', async () => {
  expect(await bench.send({ from: 'ACME' })).toMatchObject({ from: 'ACME' });
  expect(await bench.refused('/v1/sms/send', { to: PERSON, text: 'Hi', from: '+12025550199' })).toMatchObject({
    status: 400,
    param: 'from',
    code_detail: 'sender',
    message: expect.stringContaining(OURS),
  });
});

test('the sandbox serves only who names it', async () => {
  expect(await bench.send({ vendor: 'sandbox' })).toMatchObject({
    vendor: 'sandbox',
    captured: true,
    cost_usd: 0.0079,
  });
  expect(twilio.messages).toEqual([]);
});

test('a code is masked in what the account can read, and whole for the phone', async () => {
  const own = await bench.another();
  const one = await own.ok('POST', '/v1/sms/verify/start', { to: '+12025550160', length: 8 });
  const code = /\d{8}/.exec(twilio.messages[0]?.get('Body') ?? '')?.[0] ?? '';
  expect(await own.get(one.message_id)).toMatchObject({
    text: '•••••••• is your verification code.',
    encoding: 'gsm7',
  });
  const { rows } = await bench.service.core.db.query<{ found: string }>(
    { name: 'test_sms_rows', text: 'SELECT to_jsonb(m)::text AS found FROM sms.message m WHERE m.account_id = $1' },
    [own.accountId],
  );
  expect(rows.map(({ found }) => found).join()).not.toContain(code);
  expect(JSON.stringify(await own.events())).not.toContain(code);
  expect(await own.ok('POST', '/v1/sms/verify/check', { verification_id: one.verification_id, code })).toMatchObject({
    status: 'approved',
  });
});

describe('what Twilio refuses costs nothing', () => {
  test.each([
    ['a number that is none', 400, 21211, 502, 'SMS_SEND_FAILED', '21211'],
    ['a person who has unsubscribed there', 400, 21610, 502, 'SMS_SEND_FAILED', '21610'],
    ['a login', 401, 20003, 502, 'VENDOR_AUTH_ERROR', undefined],
    ['too many at once', 429, 20429, 429, 'RATE_LIMIT_VENDOR', undefined],
    ['everything, for it is down', 503, 20503, 503, 'VENDOR_DOWN', undefined],
  ])('%s', async (_name, status, code, http, error, detail) => {
    // Each meets a vendor that nobody has found failing.
    const fresh = await SmsBench.start({
      vendors: [
        {
          id: 'twilio',
          adapter: 'twilio',
          base_url: twilio.url,
          account_sid: ACCOUNT_SID,
          auth_token: SECRET,
          from: OURS,
          price: 0.01,
        },
      ],
    });
    try {
      twilio.answer = () => twilio.refused(status, code, `No: ${SECRET}`);
      const reply = await fresh.call('POST', '/v1/sms/send', { to: PERSON, text: 'Hi' }, { 'idempotency-key': 'k' });
      expect(reply.body.error).toMatchObject({ http_status: http, code: error });
      if (detail !== undefined) expect(reply.body.error.code_detail).toBe(detail);
      expect(reply.text).not.toContain(SECRET);
      const [sms] = (await fresh.ok('GET', '/v1/sms/list')).items;
      expect(sms).toMatchObject({ status: 'failed', cost_usd: 0 });
      expect(await fresh.told(sms.sms_id, 2)).toEqual(['sms.queued', 'sms.failed']);
      expect(await fresh.balance()).toBe(5);
    } finally {
      await fresh.stop();
    }
  });

  test('and its key is free: the same call can be made again', async () => {
    const own = await bench.another();
    const again = { 'idempotency-key': 'again' };
    const body = { to: PERSON, text: 'Hi' };
    twilio.answer = () => twilio.refused(400, 21211, 'Invalid number');
    expect((await own.call('POST', '/v1/sms/send', body, again)).status).toBe(502);
    twilio.answer = () => twilio.accepted();
    expect((await own.call('POST', '/v1/sms/send', body, again)).body.data).toMatchObject({ status: 'sent' });
  });
});

test('an answer that is lost is charged, told as unknown, and sent once', async () => {
  const own = await bench.another();
  twilio.answer = () => 'reset';
  const reply = await own.call('POST', '/v1/sms/send', { to: PERSON, text: 'Hi' }, { 'idempotency-key': 'lost' });
  expect(reply.body.data).toMatchObject({ status: 'sent', detail: 'outcome_unknown', cost_usd: 0.0105 });
  expect(reply.body.metadata.warnings.join()).toContain('lost');
  const again = await own.call('POST', '/v1/sms/send', { to: PERSON, text: 'Hi' }, { 'idempotency-key': 'lost' });
  expect(again.body.data).toEqual(reply.body.data);
  expect(twilio.messages).toHaveLength(1);
  const callback = twilio.messages[0]?.get('StatusCallback') ?? '';
  expect(await twilio.callBack(callback, { MessageSid: 'SM1', MessageStatus: 'delivered' })).toBe(200);
  expect(await own.get(reply.body.data.sms_id)).toMatchObject({ status: 'delivered', detail: null });
});

describe('what Twilio calls back', () => {
  const sent = async (own: SmsBench) => {
    const sms = await own.send();
    return { sms, url: twilio.messages.at(-1)?.get('StatusCallback') ?? '' };
  };

  test('ends the message once', async () => {
    const own = await bench.another();
    const { sms, url } = await sent(own);
    for (const MessageStatus of ['queued', 'sending', 'sent', 'delivered', 'delivered', 'failed']) {
      expect(await twilio.callBack(url, { MessageSid: 'SM1', MessageStatus })).toBe(200);
    }
    expect(await own.get(sms.sms_id)).toMatchObject({ status: 'delivered', error_code: null });
    expect(await own.told(sms.sms_id, 3)).toEqual(['sms.queued', 'sms.sent', 'sms.delivered']);
  });

  test('tells why a message failed', async () => {
    const own = await bench.another();
    const { sms, url } = await sent(own);
    expect(await twilio.callBack(url, { MessageStatus: 'undelivered', ErrorCode: '30003' })).toBe(200);
    expect(await own.get(sms.sms_id)).toMatchObject({ status: 'failed', error_code: '30003', cost_usd: 0.0105 });
  });

  test('is believed only with the signature of the account, for this address and these fields', async () => {
    const own = await bench.another();
    const { sms, url } = await sent(own);
    const fields = { MessageStatus: 'failed' };
    expect(await twilio.callBack(url, fields, 'another token')).toBe(404);
    expect(await twilio.callBack(url.replace(/\/[^/]+$/, '/inbound'), { ...fields, From: '', To: '' }, '')).toBe(404);
    const unsigned = await fetch(url, { method: 'POST', body: new URLSearchParams(fields) });
    expect(unsigned.status).toBe(404);
    expect(await twilio.callBack(`${url}x`, fields)).toBe(404);
    expect(await twilio.callBack(url.replace('/twilio/', '/sandbox/'), fields)).toBe(404);
    expect(await own.get(sms.sms_id)).toMatchObject({ status: 'sent' });
  });

  test('brings messages of people to the account that wrote to them last, once', async () => {
    const [own, other] = [await bench.another(), await bench.another()];
    const person = '+12025550161';
    await other.send({ to: person });
    await own.send({ to: person });
    const inbound = `${bench.service.url}/v1/sms/callback/twilio/inbound`;
    const fields = { From: person, To: OURS, Body: 'Thanks 🙂', MessageSid: 'SM77' };
    for (const _ of [1, 2]) expect(await twilio.callBack(inbound, fields)).toBe(200);
    const { items } = await own.ok('GET', '/v1/sms/list?direction=inbound');
    expect(items).toEqual([
      expect.objectContaining({
        from: person,
        to: OURS,
        text: 'Thanks 🙂',
        status: 'received',
        vendor: 'twilio',
        cost_usd: 0,
      }),
    ]);
    expect((await other.ok('GET', '/v1/sms/list?direction=inbound')).items).toEqual([]);
    expect(await own.told(items[0].sms_id, 1)).toEqual(['sms.inbound']);
  });

  test('STOP counts for every account that sends from the number, until START', async () => {
    const [own, other] = [await bench.another(), await bench.another()];
    const person = '+12025550162';
    const inbound = `${bench.service.url}/v1/sms/callback/twilio/inbound`;
    await twilio.callBack(inbound, { From: person, To: OURS, Body: 'STOP', MessageSid: 'SM78' });
    for (const each of [own, other]) {
      expect(await each.refused('/v1/sms/send', { to: person, text: 'Hi' })).toMatchObject({ status: 409 });
    }
    expect(await own.refused('/v1/sms/verify/start', { to: person })).toMatchObject({ code: 'RECIPIENT_SUPPRESSED' });
    expect(twilio.messages).toEqual([]);
    await twilio.callBack(inbound, { From: person, To: OURS, Body: 'start', MessageSid: 'SM79' });
    expect(await own.send({ to: person })).toMatchObject({ status: 'sent' });
  });
});

test('five codes an hour go to a number, whichever accounts ask', async () => {
  const accounts = await Promise.all([1, 2, 3].map(() => bench.another()));
  const replies = await Promise.all(
    Array.from({ length: 12 }, (_, n) =>
      (accounts[n % 3] as SmsBench).call('POST', '/v1/sms/verify/start', { to: '+12025550163' }),
    ),
  );
  expect(replies.filter(({ status }) => status === 200)).toHaveLength(5);
  expect(twilio.messages).toHaveLength(5);
});
