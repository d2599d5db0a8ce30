// E-mail routes of Resend's wire: sent as by email.send without waiting, and shown with the data of email.get.
import { json } from '../../../kit/openai-wire.ts';
import { dataOf } from '../../../kit/raw-data.ts';
import type { RawAnswer, RawRequest } from '../../../kit/raw-route.ts';
import { JsonText } from '../../../lib/json-text.ts';
import { type Email, mailOf } from './answers.ts';
import { keyOf } from './calls.ts';
import { readBatch, readSend } from './request.ts';

export async function sendMail(request: RawRequest): Promise<RawAnswer> {
  const input = new JsonText(await request.read(readSend, request.body));
  const { email_id } = await dataOf<Email>(request.invoke('email.send', input, keyOf(request)));
  return json({ id: email_id });
}

/** All or none, whatever `x-batch-validation` asks for. */
export async function sendBatch(request: RawRequest): Promise<RawAnswer> {
  const input = new JsonText(await request.read(readBatch, request.body));
  const { items } = await dataOf<{ items: Email[] }>(request.invoke('email.batch.send', input, keyOf(request)));
  return json({ data: items.map(({ email_id }) => ({ id: email_id })) });
}

export async function getMail(request: RawRequest): Promise<RawAnswer> {
  return json(mailOf(await dataOf<Email>(request.invoke('email.get', { email_id: idOf(request), content: true }))));
}

export async function cancelMail(request: RawRequest): Promise<RawAnswer> {
  const { email_id } = await dataOf<Email>(request.invoke('email.cancel', { email_id: idOf(request) }, keyOf(request)));
  return json({ object: 'email', id: email_id });
}

function idOf({ params }: RawRequest): string {
  return params.id ?? '';
}
