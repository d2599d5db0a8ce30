// Decoder for an image sent inline in a call's body. The longest takes some 50 ms, so it runs where long bodies are read.
import { readInlineBytes } from '../../../lib/inline-bytes.ts';
import { invalidField, type Problem } from '../../../problems/problem.ts';

export const isUrl = (sent: string): boolean => /^https?:/i.test(sent);

/** The bytes of base64 or base64url, also as a data URL, in memory of their own. Throws the Problem of what is neither. */
export function decodeInline(sent: string): Uint8Array<ArrayBuffer> {
  const read = readInlineBytes(sent);
  if (read === null) throw refusedImage('not_an_image', 'It is no URL, no data URL and no base64.');
  return read.bytes;
}

export function refusedImage(rule: string, message: string): Problem {
  return invalidField('reference_image', rule, message);
}
