// Resend's client (npm install resend): a mail and its state, by RESEND_BASE_URL alone.
import { Resend } from 'resend';

const { QM_URL = 'http://127.0.0.1:8787', QM_KEY } = process.env;
process.env.RESEND_BASE_URL ??= `${QM_URL}/v1/email/resend`;
const resend = new Resend(QM_KEY);

const mail = {
  from: 'Billing <billing@example.com>',
  to: 'ada@example.org',
  subject: 'Invoice 7',
  html: '<p>Paid.</p>',
};
const { data, error } = await resend.emails.send(mail, { idempotencyKey: 'invoice-7' });
if (error !== null) throw new Error(`${error.name}: ${error.message}`);
const again = await resend.emails.send(mail, { idempotencyKey: 'invoice-7' });
const found = await resend.emails.get(data.id);
console.log(found.data?.subject, again.data?.id === data.id ? 'sent once' : 'sent twice');
