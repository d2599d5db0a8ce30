// ALTCHA (npm install altcha-lib; in pages its widget, npm install altcha): a page's challenge is solved, and the server checks it as it checked
// reCAPTCHA, hCaptcha or Turnstile, at another address.
import { solveChallenge } from 'altcha-lib';
import { deriveKey } from 'altcha-lib/algorithms/pbkdf2';

const { QM_URL = 'http://127.0.0.1:8787', QM_KEY = '' } = process.env;
const made = await fetch(`${QM_URL}/v1/account/keys/create`, {
  method: 'POST',
  headers: { Authorization: `Bearer ${QM_KEY}`, 'Content-Type': 'application/json' },
  body: JSON.stringify({ name: 'pages', scopes: ['captcha.challenge'] }),
});
const { data } = (await made.json()) as { data: { key_secret: string } };

const page = await fetch(`${QM_URL}/v1/captcha/altcha?key=${data.key_secret}&action=signup&difficulty=easy`);
const challenge = (await page.json()) as Parameters<typeof solveChallenge>[0]['challenge'];
const solution = await solveChallenge({ challenge, deriveKey });
const response = btoa(JSON.stringify({ challenge, solution }));

for (let i = 0; i < 2; i += 1) {
  const body = new URLSearchParams({ secret: QM_KEY, response, action: 'signup' });
  const checked = await fetch(`${QM_URL}/v1/captcha/siteverify`, { method: 'POST', body });
  const { success, ...found } = (await checked.json()) as { success: boolean; 'error-codes': string[] };
  console.log(success, found['error-codes'].join(' '));
}
