import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { signedHeaders } from './signature.ts';
import { signingSecret } from './signing-secret.ts';

const message = (body: string) => ({ id: 'evt_1', timestampMs: Date.now(), body });

describe('signed headers', () => {
  test.each(['{}', '{"a":"é 漢 😀"}', JSON.stringify({ a: 'x'.repeat(20_480) })])(
    'are accepted by the Standard Webhooks library',
    (body) => {
      const secret = signingSecret(null, 'secret');
      const headers = signedHeaders(message(body), [secret]);
      expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body));
    },
  );

  test('a secret given as plain text signs with its UTF-8 bytes', () => {
    const text = 'plain text of more than 24 bytes é';
    const headers = signedHeaders(message('{}'), [signingSecret(text, 'secret')]);
    const key = new Uint8Array(Buffer.from(text, 'utf8'));
    expect(new Webhook(key, { format: 'raw' }).verify('{}', headers)).toEqual({});
  });

  test('during a rotation either secret verifies, any other does not', () => {
    const [next, old, other] = [1, 2, 3].map(() => signingSecret(null, 'secret')) as [string, string, string];
    const headers = signedHeaders(message('{}'), [next, old]);
    expect(headers['webhook-signature']).toMatch(/^v1,\S+ v1,\S+$/);
    expect(new Webhook(next).verify('{}', headers)).toEqual({});
    expect(new Webhook(old).verify('{}', headers)).toEqual({});
    expect(() => new Webhook(other).verify('{}', headers)).toThrow('No matching signature');
  });

  test('a changed body, id or time is not verified', () => {
    const secret = signingSecret(null, 'secret');
    const headers = signedHeaders(message('{"a":1}'), [secret]);
    const webhook = new Webhook(secret);
    expect(() => webhook.verify('{"a":2}', headers)).toThrow('No matching signature');
    expect(() => webhook.verify('{"a":1}', { ...headers, 'webhook-id': 'evt_2' })).toThrow('No matching signature');
    const later = String(Number(headers['webhook-timestamp']) + 1);
    expect(() => webhook.verify('{"a":1}', { ...headers, 'webhook-timestamp': later })).toThrow('No matching');
  });

  test('name the message, the second of the attempt, the type and the sender', () => {
    const headers = signedHeaders({ id: 'evt_9', timestampMs: 1_700_000_000_999, body: '{}' }, []);
    expect(headers).toEqual({
      'content-type': 'application/json',
      'user-agent': 'Quartermaster-Webhooks/1',
      'webhook-id': 'evt_9',
      'webhook-timestamp': '1700000000',
      'webhook-signature': '',
    });
  });
});
