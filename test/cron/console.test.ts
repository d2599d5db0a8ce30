// The form of a schedule: its payload as it was typed, and the time of a single run by the clock of the reader.
import { beforeAll, expect, test } from 'vitest';
import { sendForm, signedIn } from '../support/console.ts';
import { client, createTestAccount } from '../support/service.ts';
import { sharedService } from '../support/shared-service.ts';

let call: ReturnType<typeof client>;
let visitor: Awaited<ReturnType<typeof signedIn>>;
beforeAll(async () => {
  const { core, url } = await sharedService();
  const { secret } = await createTestAccount(core, 1);
  call = client(url, secret);
  visitor = await signedIn(url, secret);
});

const fields = { task: 'https://example.org/run', name: '', cron_expr: '', run_at: '', timezone: 'UTC' };
const source = '{"n": 12345678901234567890, "text": "<b>"}';

async function jobText(id: string): Promise<string> {
  return (await call('GET', `/v1/cron/get/${id}`)).text;
}

function hiddenFields(page: string): Record<string, string> {
  return Object.fromEntries(
    [...page.matchAll(/<input type="hidden" name="(payload_hash|run_at_as_it_was)" value="([^"]*)">/g)].map(
      ([, name = '', value = '']) => [name, value],
    ),
  );
}

test('the payload is sent as it was typed, stays while nobody touches it, is changed and taken away', async () => {
  const made = await sendForm(visitor, '/console/schedules', 'create', {
    ...fields,
    cron_expr: '0 9 * * *',
    payload: source,
  });
  const [, id = ''] = /\/console\/schedules\/(cron_\w+)"/.exec(made.text) ?? [];
  expect(await jobText(id)).toContain(`"payload":${source}`);
  const page = `/console/schedules/${id}/settings`;
  const { text } = await visitor.get(page);
  const shown = source.replaceAll('"', '&quot;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  expect(text).toContain(`\n${shown}</textarea>`);
  const save = (more: Record<string, string>) =>
    sendForm(visitor, page, 'update', { ...fields, cron_expr: '0 9 * * *', ...hiddenFields(text), ...more });
  expect((await save({ payload: source, name: 'renamed' })).status).toBe(303);
  expect(await jobText(id)).toContain(`"payload":${source}`);
  await save({ payload: '{"n":\r\n1.50}' });
  expect(await jobText(id)).toMatch(/"payload":\{"n":\r?\n1\.50\}/);
  expect((await save({ payload: '{' })).text).toContain('id="update-payload-fault"');
  await save({ payload: '' });
  expect(await jobText(id)).toContain('"payload":null');
});

test('a single run is picked by the clock of the reader, and stays to the second', async () => {
  const made = await call('POST', '/v1/cron/create', { task: fields.task, run_at: '2031-01-31T18:00:07Z' });
  const id: string = made.body.data.job_id;
  const page = `/console/schedules/${id}/settings`;
  const { text } = await visitor.get(page);
  expect(text).toContain('type="datetime-local"');
  const save = (run_at: string) =>
    sendForm(visitor, page, 'update', { ...fields, ...hiddenFields(text), run_at, payload: '' });
  await save('2031-01-31T18:00');
  expect(await jobText(id)).toContain('"run_at":"2031-01-31T18:00:07.000Z"');
  await save('2031-01-31T19:30');
  expect(await jobText(id)).toContain('"run_at":"2031-01-31T19:30:00.000Z"');
});
