// Signing secrets of webhook deliveries: `whsec_` + base64 of 24-64 bytes (Standard Webhooks 1.0, contract of webhooks).
import { randomBytes } from 'node:crypto';
import { invalidField, type Problem } from '../../problems/problem.ts';

const PREFIX = 'whsec_';
const MINTED_BYTES = 32;
const BYTES_MIN = 24;
const BYTES_MAX = 64;

/**
 * The secret to store and to show once.
 * @param input null or absent mints one; `whsec_…` is checked; any other string of 24-64 UTF-8 bytes is used as these bytes.
 * @returns `whsec_` + padded base64.
 * @throws VALIDATION_FAILED with `param`; the message never repeats the secret.
 */
export function signingSecret(input: string | null | undefined, param: string): string {
  if (input === null || input === undefined) return PREFIX + randomBytes(MINTED_BYTES).toString('base64');
  const bytes = input.startsWith(PREFIX) ? decodeSecret(input.slice(PREFIX.length), param) : utf8(input, param);
  if (bytes.length < BYTES_MIN || bytes.length > BYTES_MAX) {
    throw refusal(param, 'length', `The secret must be of ${BYTES_MIN} to ${BYTES_MAX} bytes.`);
  }
  return PREFIX + bytes.toString('base64');
}

/** The last four characters, for people to tell secrets apart. */
export function secretLast4(secret: string): string {
  return secret.slice(-4);
}

// Node's decoder skips what is not base64; encoding again shows whether anything was skipped. Missing padding is mended.
function decodeSecret(text: string, param: string): Buffer {
  const bytes = Buffer.from(text, 'base64');
  const encoded = bytes.toString('base64');
  if (encoded === text || encoded.replace(/=+$/, '') === text) return bytes;
  throw refusal(param, 'format', 'A secret that begins with whsec_ must go on with base64.');
}

function utf8(text: string, param: string): Buffer {
  if (text.isWellFormed()) return Buffer.from(text, 'utf8');
  throw refusal(param, 'format', 'The secret holds a lone surrogate.');
}

function refusal(param: string, rule: string, message: string): Problem {
  return invalidField(param, rule, message);
}
