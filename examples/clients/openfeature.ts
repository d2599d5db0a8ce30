// OpenFeature's server SDK with its OFREP provider (npm install @openfeature/server-sdk @openfeature/ofrep-provider): an address and a key are all it takes.
// Web pages take @openfeature/ofrep-web-provider with a key of flags.evaluate alone.
import { OFREPProvider } from '@openfeature/ofrep-provider';
import { OpenFeature } from '@openfeature/server-sdk';

const { QM_URL = 'http://127.0.0.1:8787', QM_KEY = '' } = process.env;
await fetch(`${QM_URL}/v1/flags/create`, {
  method: 'POST',
  headers: { Authorization: `Bearer ${QM_KEY}`, 'Content-Type': 'application/json' },
  body: JSON.stringify({
    key: 'greeting',
    type: 'string',
    variants: { warm: 'Hello!', plain: 'Hi.' },
    default_variant: 'plain',
    targeting: { if: [{ '==': [{ var: 'plan' }, 'pro'] }, 'warm', null] },
  }),
});

const headers: [string, string][] = [['Authorization', `Bearer ${QM_KEY}`]];
await OpenFeature.setProviderAndWait(new OFREPProvider({ baseUrl: `${QM_URL}/v1/flags`, headers }));
const client = OpenFeature.getClient();
for (const plan of ['pro', 'free']) {
  const { value, reason } = await client.getStringDetails('greeting', '', { targetingKey: 'user-1', plan });
  console.log(value, reason);
}
await OpenFeature.close();
