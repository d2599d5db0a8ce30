import { expect, test } from 'vitest';
import type { AiCall } from '../port.ts';
import { echo } from './echo.ts';
import { embed } from './ngram.ts';

const call = { signal: new AbortController().signal } as AiCall;
const model = { id: 'm', jsonSchema: null, reasoning: false, options: {} };

test('what a request has of tokens was counted where its body was read, and is not counted again here', async () => {
  const body = { messages: [{ role: 'user', content: 'Say hello.' }] };
  const said = await echo(call, { model, body, outputTokensMax: 50, stream: false, inputTokens: 4_711 });
  expect(said).toMatchObject({ kind: 'completed', usage: { inputTokens: 4_711 } });
  const vectors = {
    model,
    inputs: ['a boat'],
    dimensions: null,
    dimensionsMax: 4_096,
    further: {},
    inputTokens: 4_712,
  };
  expect(await embed(call, vectors)).toMatchObject({ kind: 'embedded', usage: { inputTokens: 4_712 } });
});
