import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { readMessage, uint16s } from '../../wire/message.ts';
import { AnswerCheck, algorithms, BadSignature, sign, signatureOf, type TsigKey } from './tsig.ts';
import { transferQuery } from './update.ts';

const key: TsigKey = { name: 'key.test', secret: Buffer.from('0123456789abcdef'), algorithm: 'hmac-sha256' };
const NOW = 1_800_000_000;

/** An answer to what `sign` made, signed as a server does: the MAC of the request goes before it. */
function answered(
  request: Buffer,
  by: TsigKey = key,
  atSeconds = NOW,
): { readonly bytes: Buffer; readonly mac: Buffer } {
  const { mac } = sign(request, key, NOW);
  const plain = Buffer.from(transferQuery(request.readUInt16BE(0), 'a.test'));
  plain.writeUInt16BE(0x8000, 2);
  return { bytes: signedAfter(plain, mac, by, atSeconds), mac };
}

function signedAfter(plain: Buffer, mac: Buffer, by: TsigKey, atSeconds: number): Buffer {
  const prefix = Buffer.concat([uint16s(mac.length), mac]);
  const { mac: own } = sign(Buffer.concat([prefix, plain]), by, atSeconds);
  const { signed, mac: placed } = sign(plain, by, atSeconds);
  const at = signed.lastIndexOf(placed);
  own.copy(signed, at);
  return signed;
}

const request = transferQuery(7, 'a.test');
const check = (mac: Buffer, nowSeconds = NOW) => new AnswerCheck(key, mac, () => nowSeconds);

describe('a signed answer', () => {
  test.each(algorithms.map((algorithm) => [algorithm]))('holds by %s', (algorithm) => {
    const own = { ...key, algorithm };
    const { mac } = sign(request, own, NOW);
    const plain = Buffer.from(request);
    plain.writeUInt16BE(0x8000, 2);
    const checked = new AnswerCheck(own, mac, () => NOW);
    checked.take(readMessage(signedAfter(plain, mac, own, NOW)));
    expect(checked.isComplete).toBe(true);
  });

  test('does not hold with any byte changed, by another key, at another time, or for another request', () => {
    const { bytes, mac } = answered(request);
    check(mac).take(readMessage(bytes));
    for (let at = 0; at < bytes.length; at += 1) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 0x01;
      // The id in the header is not signed: the original one is.
      if (at < 2) continue;
      expect(() => check(mac).take(readMessage(changed)), `byte ${at}`).toThrow();
    }
    expect(() => check(mac).take(readMessage(answered(request, { ...key, secret: randomBytes(16) }).bytes))).toThrow(
      BadSignature,
    );
    expect(() => check(mac).take(readMessage(answered(request, { ...key, name: 'other.test' }).bytes))).toThrow(
      BadSignature,
    );
    expect(() => check(mac, NOW + 301).take(readMessage(bytes))).toThrow(BadSignature);
    expect(() => check(mac, NOW - 301).take(readMessage(bytes))).toThrow(BadSignature);
    expect(() => check(randomBytes(32)).take(readMessage(bytes))).toThrow(BadSignature);
  });

  test('that begins unsigned, or goes on so for 100 messages, is refused', () => {
    const { bytes, mac } = answered(request);
    const unsigned = readMessage(request);
    expect(() => check(mac).take(unsigned)).toThrow(BadSignature);
    const checked = check(mac);
    checked.take(readMessage(bytes));
    for (let sent = 0; sent < 99; sent += 1) checked.take(unsigned);
    expect(checked.isComplete).toBe(false);
    expect(() => checked.take(unsigned)).toThrow(BadSignature);
  });
});

test('a signed message of any length or with any byte changed is read or refused, and never read beyond', () => {
  const { bytes } = answered(request);
  for (let length = 0; length < bytes.length; length += 1)
    expect(() => signatureOf(readMessage(bytes.subarray(0, length)))).toThrow();
  for (let at = 0; at < bytes.length; at += 1) {
    const changed = Buffer.from(bytes);
    changed[at] = 0xff - (changed[at] ?? 0);
    try {
      signatureOf(readMessage(changed));
    } catch (error) {
      expect((error as Error).name).toBe('Malformed');
    }
  }
});

test('a signature that is not the last record, or of another class, is none', () => {
  const { bytes } = answered(request);
  const message = readMessage(bytes);
  const [tsig] = message.additional;
  if (tsig === undefined) throw new Error('it is not signed');
  const beside = (records: Partial<typeof message>) => () => signatureOf({ ...message, ...records });
  expect(beside({ additional: [tsig, tsig] })).toThrow('follows its signature');
  expect(beside({ additional: [], answers: [tsig] })).toThrow('is none');
  expect(beside({ additional: [{ ...tsig, class: 1 }] })).toThrow('is none');
  expect(beside({ additional: [{ ...tsig, ttl: 1 }] })).toThrow('is none');
});
