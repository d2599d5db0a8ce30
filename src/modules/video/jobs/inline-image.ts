// A picture that stands in the body of a call. Finding out takes some 50 ms for the longest, so it is done where long bodies are read.
import { invalidField, type Problem } from '../../../problems/problem.ts';

/** Looked for one at a time: a repetition over 14 MB takes more stack than there is, once V8 has given up optimizing expressions. */
const NOT_BASE64 = /[^A-Za-z0-9+/_-]/;
const DATA_URL_HEAD = /^data:[a-z]+\/[a-z0-9.+-]{1,100};base64,/i;

export const isUrl = (sent: string): boolean => /^https?:/i.test(sent);

/** The bytes of base64 or base64url, also as a data URL, in memory of their own. Throws the Problem of what is neither. */
export function decodeInline(sent: string): Uint8Array<ArrayBuffer> {
  const [head = ''] = DATA_URL_HEAD.exec(sent) ?? [];
  const padding = sent.endsWith('==') ? 2 : Number(sent.endsWith('='));
  const text = sent.slice(head.length, sent.length - padding);
  if (text === '' || NOT_BASE64.test(text))
    throw refusedImage('not_an_image', 'It is no URL, no data URL and no base64.');
  const bytes = Buffer.from(text, 'base64');
  // Small buffers are parts of one that others use.
  return bytes.length === bytes.buffer.byteLength ? (bytes as Uint8Array<ArrayBuffer>) : new Uint8Array(bytes);
}

export function refusedImage(rule: string, message: string): Problem {
  return invalidField('reference_image', rule, message);
}
