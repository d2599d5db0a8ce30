// Small requests of AI calls that are made to take long: schemas that the sandbox makes a value of, by each door, and very many content parts.
import { post } from '../support/load.ts';
import type { BenchAccount } from '../support/service.ts';
import type { Scenario } from './scenario.ts';

const CONNECTIONS = 8;
const NAMES = 3_000;
const PARTS = 200_000;
const BATCH_REQUESTS = 100;

const question = [{ role: 'user', content: 'Hello.' }];
const model = 'sandbox/echo-1';

/** 29 KB that ask for 3,000 values, each of which has 3,000 names to be copied. */
const schema = {
  type: 'array',
  minItems: NAMES,
  items: {
    allOf: [{ ...Object.fromEntries(Array.from({ length: NAMES }, (_, n) => [`n${n}`, 0])), type: 'null' }],
  },
};
const format = { type: 'json_schema', json_schema: { name: 'answer', schema } };
const chat = { model, messages: question, response_format: format };
const tool = { type: 'function', function: { name: 'act', parameters: schema } };
const parts = Array.from({ length: PARTS }, () => ({ type: 'text', text: 'a' }));

const doors: readonly (readonly [name: string, path: string, body: object])[] = [
  ['format', '/v1/chat/completions', chat],
  ['tool', '/v1/chat/completions', { model, messages: question, tools: [tool], tool_choice: 'required' }],
  [
    'responses',
    '/v1/responses',
    { model, input: 'Hello.', text: { format: { type: 'json_schema', name: 'answer', schema } } },
  ],
  ['chat', '/v1/ai/chat', chat],
];

export function aiScenarios(url: string, addresses: readonly string[], { secret }: BenchAccount): Scenario[] {
  const calls = (path: string, body: object, connections = CONNECTIONS) => [
    { connections, addresses, manner: 'calls' as const, requests: [post(url, path, secret, JSON.stringify(body))] },
  ];
  const items = Array.from({ length: BATCH_REQUESTS }, (_, n) => ({
    custom_id: `n-${n}`,
    capability: 'ai.chat',
    body: chat,
  }));
  return [
    ...doors.map(([name, path, body]) => ({
      name: `ai-schema-${name}`,
      what: `${CONNECTIONS} connections ask ${path} for a value of a schema of 29 KB that fans out (${name})`,
      orders: calls(path, body),
    })),
    {
      name: 'ai-schema-batch',
      what: `batches of ${BATCH_REQUESTS} such requests, as many as an account may have`,
      orders: calls('/v1/ai/batch/create', { items }, 2),
    },
    {
      name: 'ai-parts',
      what: `4 connections send chats of ${PARTS.toLocaleString('en')} content parts`,
      orders: calls('/v1/chat/completions', { model, messages: [{ role: 'user', content: parts }] }, 4),
    },
  ];
}
