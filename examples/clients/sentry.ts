// Sentry's SDK (npm install @sentry/node): only the DSN changes. Its key can report errors and nothing else.
import * as Sentry from '@sentry/node';

const { QM_URL = 'http://127.0.0.1:8787', QM_KEY } = process.env;
const answer = await fetch(`${QM_URL}/v1/account/keys/create`, {
  method: 'POST',
  headers: { Authorization: `Bearer ${QM_KEY}`, 'Content-Type': 'application/json' },
  body: JSON.stringify({ name: 'sentry', scopes: ['errors.capture', 'errors.message'] }),
});
const { data } = (await answer.json()) as { data: { key_secret: string } };

const { protocol, host } = new URL(QM_URL);
Sentry.init({ dsn: `${protocol}//${data.key_secret}@${host}/v1/errors/sentry/1`, release: 'shop@1.4.2' });
Sentry.captureException(new TypeError('the cart is empty'));
console.log((await Sentry.flush(5_000)) ? 'reported' : 'not reported');
