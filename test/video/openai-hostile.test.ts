// What strangers may send to the wire of OpenAI's videos: each body is refused in that wire's form, or taken as it is.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { VideoBench } from './harness.ts';

const MODEL = 'sandbox/storyboard-1';

let bench: VideoBench;
beforeAll(async () => {
  bench = await VideoBench.start();
});
afterAll(() => bench.service.stop());

function post(body: string | Buffer, contentType: string) {
  const authorization = `Bearer ${bench.account.secret}`;
  return fetch(`${bench.service.url}/v1/videos`, {
    method: 'POST',
    headers: { authorization, 'content-type': contentType },
    body: body as string,
  });
}

const form = (...parts: string[]) => `${parts.map((part) => `--x\r\n${part}\r\n`).join('')}--x--\r\n`;
const field = (name: string, value: string) => `content-disposition: form-data; name="${name}"\r\n\r\n${value}`;
const MULTIPART = 'multipart/form-data; boundary=x';
test.each<[string, string, string, string | null]>([
  ['no JSON', '{"prompt":', 'application/json', null],
  ['a JSON array', '[]', 'application/json', null],
  ['nothing', '', 'application/json', null],
  ['nothing as a form', '', MULTIPART, null],
  ['a form without its end', `--x\r\n${field('prompt', 'x')}`, MULTIPART, null],
  ['a form without names', form('content-disposition: form-data\r\n\r\nx'), MULTIPART, null],
  ['a form of many fields', form(...Array.from({ length: 40 }, (_, i) => field(`f${i}`, 'x'))), MULTIPART, null],
  ['a form with a long head', form(`x: ${'y'.repeat(5_000)}\r\n${field('prompt', 'x')}`), MULTIPART, null],
  ['a form of dashes', '--'.repeat(10_000), MULTIPART, null],
  ['a field twice', form(field('prompt', 'x'), field('prompt', 'y')), MULTIPART, 'prompt'],
  [
    'a model that is a file',
    form(field('model', 'x').replace('\r\n\r\n', '; filename="m"\r\n\r\n')),
    MULTIPART,
    'model',
  ],
  ['an image that is text', form(field('prompt', 'x'), field('input_reference', 'x')), MULTIPART, 'input_reference'],
  ['a prompt that is no text', '{"prompt":7}', 'application/json', 'prompt'],
  ['a prototype', '{"prompt":"x","__proto__":{"model":"y"}}', 'application/json', '__proto__'],
  ['an image that is a list', '{"prompt":"x","input_reference":["y"]}', 'application/json', 'input_reference'],
])('%s is refused', async (_, body, type, param) => {
  const reply = await post(body, type);
  const { error } = await reply.json();
  expect([reply.status, error.type, error.param]).toEqual([400, 'invalid_request_error', param]);
  expect(reply.headers.get('x-should-retry')).toBe('false');
});

test('what is too long is refused in the same form', async () => {
  const reply = await post(Buffer.alloc(17 * 1_024 * 1_024, 'x'), 'application/json');
  expect([reply.status, (await reply.json()).error.code]).toEqual([413, 'PAYLOAD_TOO_LARGE']);
});

test('what looks like the end of a part and is none is read as it is; an empty field too', async () => {
  const { id, prompt } = await (
    await post(form(field('prompt', ' --x\n\r\n-x [[hang]]'), field('model', MODEL)), MULTIPART)
  ).json();
  expect(prompt).toBe(' --x\n\r\n-x [[hang]]');
  await bench.ok('DELETE', `/v1/video/delete/${id}`);
  expect((await post(form(field('prompt', '')), MULTIPART)).status).toBe(400);
});
