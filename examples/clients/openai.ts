// OpenAI's client (npm install openai): only the base address and the key change.
import OpenAI from 'openai';

const { QM_URL = 'http://127.0.0.1:8787', QM_KEY } = process.env;
const client = new OpenAI({ baseURL: `${QM_URL}/v1`, apiKey: QM_KEY });

// `sandbox/echo-1` says what it was told; GET /v1/models lists what this service has besides.
const stream = await client.chat.completions.create({
  model: 'sandbox/echo-1',
  messages: [{ role: 'user', content: 'Which queue is full?' }],
  stream: true,
});
for await (const { choices } of stream) process.stdout.write(choices[0]?.delta.content ?? '');
process.stdout.write('\n');
