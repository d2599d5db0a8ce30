// Anthropic's client (npm install @anthropic-ai/sdk): only the base address and the key change.
import Anthropic from '@anthropic-ai/sdk';

const { QM_URL = 'http://127.0.0.1:8787', QM_KEY } = process.env;
const client = new Anthropic({ baseURL: QM_URL, apiKey: QM_KEY });

// `sandbox/echo-1` says what it was told; GET /v1/models lists what this service has besides.
const stream = client.messages.stream({
  model: 'sandbox/echo-1',
  max_tokens: 100,
  messages: [{ role: 'user', content: 'Which queue is full?' }],
});
stream.on('text', (text) => process.stdout.write(text));
await stream.finalMessage();
process.stdout.write('\n');
