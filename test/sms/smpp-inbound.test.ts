// What a carrier brings by SMPP: receipts of messages and of their parts, and messages of people.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { eventually } from '../cron/harness.ts';
import { SmsBench } from './harness.ts';
import { entryOf, OURS, SmppDouble } from './smpp-double.ts';

let carrier: SmppDouble;
let bench: Awaited<ReturnType<typeof SmsBench.start>>;
beforeAll(async () => {
  carrier = await SmppDouble.open();
  bench = await SmsBench.start({ vendors: [entryOf(carrier)] });
});
afterAll(async () => {
  await bench.stop();
  await carrier.close();
});
beforeEach(() => {
  carrier.submits.splice(0);
  carrier.answer = () => ({});
});

describe('receipts', () => {
  const sent = async (own: SmsBench, id: string, text?: string) => {
    carrier.answer = () => ({ id: text === undefined ? id : `${id}-${carrier.submits.length}` });
    return (await own.send(text === undefined ? {} : { text })).sms_id;
  };

  test.each([
    ['DELIVRD', 'delivered', null],
    ['UNDELIV', 'failed', 'undeliv_042'],
    ['EXPIRED', 'failed', 'expired_042'],
    ['REJECTD', 'failed', 'rejectd_042'],
    ['DELETED', 'failed', 'deleted_042'],
  ])('%s means %s', async (stat, status, errorCode) => {
    const own = await bench.another();
    const id = await sent(own, `r-${stat}`);
    expect(await carrier.receipt(`r-${stat}`, stat, {}, '042')).toBe(0);
    expect(await own.get(id)).toMatchObject({ status, error_code: errorCode });
  });

  test('by fields in place of text, and those on the way end nothing', async () => {
    const own = await bench.another();
    const id = await sent(own, 'fields-1');
    expect(await carrier.receipt('fields-1', 'ENROUTE')).toBe(0);
    expect(await own.get(id)).toMatchObject({ status: 'sent' });
    await carrier.receipt('', '', { receipted_message_id: 'fields-1', message_state: 2, short_message: '' });
    expect(await own.get(id)).toMatchObject({ status: 'delivered' });
  });

  test('are found though the carrier writes its number in another way', async () => {
    const own = await bench.another();
    const id = await sent(own, '3E8A01');
    await carrier.receipt(String(0x3e8a01), 'DELIVRD');
    expect(await own.get(id)).toMatchObject({ status: 'delivered' });
  });

  test('of a long text count once the last part is there, or the first that failed', async () => {
    const own = await bench.another();
    const [whole, broken] = [await sent(own, 'whole', 'c'.repeat(200)), await sent(own, 'broken', 'd'.repeat(200))];
    await carrier.receipt('whole-1', 'DELIVRD');
    expect(await own.get(whole)).toMatchObject({ status: 'sent' });
    await carrier.receipt('whole-2', 'DELIVRD');
    expect(await own.get(whole)).toMatchObject({ status: 'delivered' });
    await carrier.receipt('broken-4', 'UNDELIV');
    await carrier.receipt('broken-3', 'DELIVRD');
    expect(await own.get(broken)).toMatchObject({ status: 'failed' });
  });

  test('that come before the answer of the submit wait for it', async () => {
    const own = await bench.another();
    let early: Promise<number> | undefined;
    carrier.answer = () => {
      early = carrier.receipt('early-1', 'DELIVRD');
      return { id: 'early-1' };
    };
    const { sms_id: id } = await own.send();
    expect(await early).toBe(0);
    expect(await own.reached(id, 'delivered')).toMatchObject({ error_code: null });
  });

  test('of nobody are acknowledged', async () => {
    expect(await carrier.receipt('nobody', 'DELIVRD')).toBe(0);
  });
});

describe('messages of people', () => {
  const from = '12025550164';
  const message = { source_addr: from, destination_addr: OURS.slice(1) };
  const received = async (own: SmsBench) =>
    eventually(async () => {
      const { items } = await own.ok('GET', '/v1/sms/list?direction=inbound');
      return items.length > 0 ? items.map(({ text }: { text: string }) => text) : null;
    });

  test('arrive whole, in the alphabet they came in', async () => {
    const own = await bench.another();
    await own.send({ to: `+${from}` });
    await carrier.deliver({ ...message, short_message: 'Thanks ü' });
    await carrier.deliver({ ...message, data_coding: 8, short_message: 'Спасибо 🙂' });
    expect((await received(own)).sort()).toEqual(['Thanks ü', 'Спасибо 🙂']);
  });

  test('in parts are one, in whatever order they come', async () => {
    const own = await bench.another();
    await own.send({ to: `+${from}` });
    const part = (number: number, text: string) => ({
      ...message,
      esm_class: 0x40,
      short_message: { udh: Buffer.from([5, 0, 3, 77, 2, number]), message: text },
    });
    await carrier.deliver(part(2, 'world'));
    await carrier.deliver(part(1, 'Hello '));
    expect(await received(own)).toEqual(['Hello world']);
    const other = await bench.another();
    await other.send({ to: `+${from}` });
    const sar = (number: number, text: string) => ({
      ...message,
      short_message: text,
      sar_msg_ref_num: 9,
      sar_total_segments: 2,
      sar_segment_seqnum: number,
    });
    await carrier.deliver(sar(1, 'One '));
    await carrier.deliver(sar(2, 'two'));
    expect(await received(other)).toEqual(['One two']);
  });

  test('that say STOP end what is sent to them', async () => {
    const own = await bench.another();
    await own.send({ to: `+${from}` });
    await carrier.deliver({ ...message, short_message: 'Stop' });
    expect(await own.refused('/v1/sms/send', { to: `+${from}`, text: 'Hi' })).toMatchObject({ status: 409 });
    expect(await own.send({ to: `+${from}`, from: 'ACME' })).toMatchObject({ status: 'sent' });
    await carrier.deliver({ ...message, short_message: 'START' });
  });
});
