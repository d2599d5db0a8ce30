// The wire of responses at vendors.
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { client, createTestAccount } from '../support/service.ts';
import { AiVendors } from './vendors-bench.ts';

let bench: AiVendors;
beforeAll(async () => {
  bench = await AiVendors.start();
});
afterAll(() => bench?.stop());
afterEach(() => bench.forgive());

test('a refusal names fields as the wire of responses calls them', async () => {
  const respond = async (over: object, secret = bench.account.secret) => {
    const sent = { input: 'Hello.', model: 'acme/m-1', ...over };
    return (await client(bench.service.url, secret)('POST', '/v1/responses', sent)).body.error;
  };
  const picture = { role: 'user', content: [{ type: 'input_image', image_url: 'data:image/png;base64,AAAA' }] };
  const thought = { type: 'reasoning', id: 'rs_1', summary: [] };
  expect(await respond({ input: [picture] })).toMatchObject({ code: 'VALIDATION_FAILED', param: 'input' });
  expect(await respond({ input: [{ role: 7 }] })).toMatchObject({ param: 'input[0].role' });
  expect(await respond({ input: [thought] })).toMatchObject({ param: 'input' });
  expect(await respond({ input: 'word '.repeat(120_000) })).toMatchObject({ param: 'input' });
  expect(await respond({ max_output_tokens: 5_000 })).toMatchObject({ param: 'max_output_tokens' });
  const poor = await createTestAccount(bench.service.core, 0.0005);
  const refused = await respond({ max_output_tokens: 1_000 }, poor.secret);
  expect([refused.code, refused.message]).toEqual([
    'INSUFFICIENT_CREDIT',
    expect.stringContaining('set max_output_tokens'),
  ]);
});
