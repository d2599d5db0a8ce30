// `cheapest` compares prices, three parts of input with one of output, whatever the longest answer of this request might cost.
import { expect, test } from 'vitest';
import { AiVendors } from './vendors-bench.ts';

test('the cheapest is not the one whose longest answer costs least', async () => {
  const price = { input: 0.9, output: 2.2 };
  const bench = await AiVendors.start({}, undefined, {}, { models: [{ id: 'm-2', price }] });
  try {
    const ask = async (model: string) => {
      const body = { model, messages: [{ role: 'user', content: 'Hello.' }] };
      return (await bench.call('POST', '/v1/chat/completions', body)).body.model;
    };
    expect([await ask('cheapest'), await ask('auto')]).toEqual(['acme/m-2', 'acme/m-1']);
  } finally {
    await bench.stop();
  }
});
