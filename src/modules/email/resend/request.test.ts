import { expect, test } from 'vitest';
import { readBatch, readSend } from './request.ts';

const sent = (body: unknown) => JSON.parse(readSend.run(Buffer.from(JSON.stringify(body))));
const mail = { from: 'Ada <ada@acme.test>', to: ['grace@acme.test'], subject: 'Hello', text: 'Hi' };

test('fields of the same name go through; times and tags are renamed', () => {
  const body = { ...mail, cc: 'a@acme.test', reply_to: ['b@acme.test'], headers: { 'X-Order': '17' } };
  const further = { scheduled_at: '2030-01-02T03:04:05Z', tags: [{ name: 'order', value: '17' }], topic_id: null };
  expect(sent({ ...body, ...further })).toEqual({
    ...body,
    send_at: '2030-01-02T03:04:05Z',
    tags: ['order:17'],
    wait: false,
  });
});

test('attachments are base64, also those that a Buffer wrote of itself, and have a name', () => {
  const bytes = Buffer.from('hello');
  const attachments = [
    { filename: 'a.txt', content: 'aGVsbG8=', content_type: 'text/plain', content_id: 'one' },
    { filename: false, content: bytes.toJSON() },
  ];
  expect(sent({ ...mail, attachments }).attachments).toEqual([
    { filename: 'a.txt', content_base64: 'aGVsbG8=', content_type: 'text/plain', content_id: 'one' },
    { filename: 'attachment-2', content_base64: 'aGVsbG8=' },
  ]);
});

test.each([
  [{ template: { id: 'x' } }, 'template'],
  [{ topic_id: 't' }, 'topic_id'],
  [{ attachments: [{ path: 'https://acme.test/a.pdf' }] }, 'attachments[0].path'],
  [{ scheduled_at: 'in 1 min' }, 'scheduled_at'],
])('%j is refused by its own name', (fields, param) => {
  expect(() => sent({ ...mail, ...fields })).toThrow(expect.objectContaining({ code: 'VALIDATION_FAILED', param }));
});

test.each(['[]', '1', 'null', '"x"'])('a body %s is refused', (body) => {
  expect(() => readSend.run(Buffer.from(body))).toThrow(expect.objectContaining({ code: 'INVALID_REQUEST' }));
});

test('no JSON is refused', () => {
  for (const body of ['{', Buffer.from([0xff])]) {
    expect(() => readSend.run(Buffer.from(body))).toThrow(expect.objectContaining({ code: 'MALFORMED_JSON' }));
  }
});

test('a batch is a list, whose faults name their entry', () => {
  const batch = (body: unknown) => JSON.parse(readBatch.run(Buffer.from(JSON.stringify(body))));
  expect(batch([mail, mail])).toEqual({ items: [mail, mail], wait: false });
  expect(() => batch([mail, { ...mail, template: {} }])).toThrow(
    expect.objectContaining({ param: 'items[1].template' }),
  );
  expect(() => batch({ items: [mail] })).toThrow(expect.objectContaining({ code: 'INVALID_REQUEST' }));
});
