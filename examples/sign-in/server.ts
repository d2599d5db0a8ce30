// Sign-in by a code: a page asks for a phone number, sends it a code, and lets in whoever knows it.
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';

const base = process.env.QM_URL ?? 'http://127.0.0.1:8787';
/** Whose number a verification proves: never taken from the form. */
const numbers = new Map<string, string>();

async function call<Data>(path: string, body: object): Promise<Data> {
  const reply = await fetch(`${base}/v1/sms/verify/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${process.env.QM_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const { ok, data, error } = (await reply.json()) as { ok: boolean; data: Data; error: { message: string } };
  if (!ok) throw new Error(error.message);
  return data;
}

const form = (path: string, label: string, name: string, hidden = '') =>
  `<form method="post" action="${path}">${hidden}<label>${label} <input name="${name}" required></label> <button>Continue</button></form>`;
const codeForm = (id: string) => form('/check', 'Code', 'code', `<input type="hidden" name="id" value="${id}">`);

async function page(path: string, sent: URLSearchParams): Promise<string> {
  if (path === '/start') {
    const to = sent.get('number') ?? '';
    const { verification_id: id } = await call<{ verification_id: string }>('start', {
      to,
      text: 'Sign in with {code}.',
    });
    numbers.set(id, to);
    return codeForm(id);
  }
  if (path !== '/check') return form('/start', 'Phone number', 'number');
  const id = sent.get('id') ?? '';
  const number = numbers.get(id);
  if (number === undefined) return form('/start', 'Phone number', 'number');
  const { status, attempts_left: left } = await call<{ status: string; attempts_left: number }>('check', {
    verification_id: id,
    code: sent.get('code') ?? '',
  });
  if (status === 'pending') return `<p>Wrong code. Tries left: ${left}.</p>${codeForm(id)}`;
  numbers.delete(id);
  return status === 'approved'
    ? `<p>Welcome, ${number}.</p>`
    : `<p>Ask for a new code.</p>${form('/start', 'Phone number', 'number')}`;
}

createServer(async (request, reply) => {
  const answer = (status: number, body: string) => reply.writeHead(status, { 'content-type': 'text/html' }).end(body);
  try {
    answer(200, await page(request.url ?? '/', new URLSearchParams(await text(request))));
  } catch (failure) {
    answer(400, `<p>${(failure as Error).message.replace(/[<&]/g, '')}</p>${form('/start', 'Phone number', 'number')}`);
  }
}).listen(Number(process.env.PORT ?? 8080), () => console.log('sign-in on port', process.env.PORT ?? 8080));
