// Bounce address of a mail: `b+TOKEN@EMAIL_BOUNCE_DOMAIN`. The token names the mail and carries a MAC, so that a forged bounce matches no mail.
// It is base32 in lower case, for servers may change the case of a local part, and fits the 64 characters of one (RFC 5321).
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Secrets } from '../../../core/secrets/secrets.ts';

const ID = /^eml_([0-9A-Za-z]{22})$/;
const ID_BYTES = 22;
const MAC_BYTES = 12;
const LOCAL = /^b\+([a-z2-7]{55})$/;
const LETTERS = 'abcdefghijklmnopqrstuvwxyz234567';

/** The envelope's sender of a mail. */
export function bounceAddress(secrets: Secrets, emailId: string, domain: string): string {
  const [, id] = ID.exec(emailId) ?? [];
  if (id === undefined) throw new Error(`${emailId} is no id of a mail`);
  const body = Buffer.from(id, 'latin1');
  return `b+${base32(Buffer.concat([body, mac(secrets, body)]))}@${domain}`;
}

/** The id of the mail; null: the address is none of ours. */
export function readBounceAddress(secrets: Secrets, address: string): string | null {
  const [, token] = LOCAL.exec(address.slice(0, address.lastIndexOf('@')).toLowerCase()) ?? [];
  if (token === undefined) return null;
  const bytes = fromBase32(token);
  // The last letter has bits to spare: only the one spelling that is handed out is taken.
  if (base32(bytes) !== token) return null;
  const [body, given] = [bytes.subarray(0, ID_BYTES), bytes.subarray(ID_BYTES, ID_BYTES + MAC_BYTES)];
  return timingSafeEqual(given, mac(secrets, body)) ? `eml_${body.toString('latin1')}` : null;
}

function mac(secrets: Secrets, body: Buffer): Buffer {
  return createHmac('sha256', secrets.derive('email-bounce', 32)).update(body).digest().subarray(0, MAC_BYTES);
}

function base32(bytes: Buffer): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  const groups = bits.match(/.{1,5}/g) ?? [];
  return groups.map((group) => LETTERS[Number.parseInt(group.padEnd(5, '0'), 2)]).join('');
}

function fromBase32(text: string): Buffer {
  const bits = [...text].map((letter) => LETTERS.indexOf(letter).toString(2).padStart(5, '0')).join('');
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}
