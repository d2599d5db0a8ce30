// What docs/ai.md shows of batches: its call is taken as it stands, and answers have the shape that stands there.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { PROJECT } from '../support/process.ts';
import { client, createTestAccount } from '../support/service.ts';
import { type SharedService, sharedService } from '../support/shared-service.ts';

const [, page = ''] = readFileSync(join(PROJECT, 'docs/ai.md'), 'utf8').split('## Batches\n');
const body = JSON.parse(/-d '([^']+)'/.exec(page)?.[1] ?? '');
/** What is left out is shown as `…`. */
const shown = [...page.matchAll(/```json\n([\s\S]*?)```/g)]
  .slice(0, 2)
  .map(([, text = '']) => JSON.parse(text.replaceAll(/(?:, )?…/g, '')));

let service: SharedService;
beforeAll(async () => {
  service = await sharedService();
});

/** The names and the nesting of a value. */
function shapeOf(value: unknown): unknown {
  if (value === null || typeof value !== 'object') return value === null ? null : expect.anything();
  if (!Array.isArray(value))
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shapeOf(member)]));
  return value.some((entry) => typeof entry === 'object') ? value.map(shapeOf) : expect.any(Array);
}

test('the call of the page answers as the page says, envelope and all', async () => {
  const { secret } = await createTestAccount(service.core, 5);
  const call = client(service.url, secret);
  const created = await call('POST', '/v1/ai/batch/create', body);
  expect(created.body).toMatchObject(shapeOf(shown[0]) as object);
  const { batch_id: id } = created.body.data;
  const items = async () => (await call('GET', `/v1/ai/batch/results/${id}`)).body;
  await expect.poll(async () => (await items()).data.items.length).toBe(2);
  const answer = await items();
  answer.data.items.sort((one: { custom_id: string }) => (one.custom_id === 'greeting' ? -1 : 1));
  expect(answer).toMatchObject(shapeOf(shown[1]) as object);
});
