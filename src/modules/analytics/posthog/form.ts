// Decodes forms of PostHog's older clients: `data` is JSON or base64 of it. It takes one pass over the bytes, since URLSearchParams takes time
// quadratic in the number of fields.

const FORM = /^(?:compression=[\w-]{1,20}&)?data=/;
const [PERCENT, PLUS, SPACE, BRACE, BRACKET] = Buffer.from('%+ {[') as unknown as [
  number,
  number,
  number,
  number,
  number,
];

export function isForm(body: Buffer): boolean {
  return FORM.test(body.toString('latin1', 0, 64));
}

/** The JSON of a body, which is one or a form; of the beginning of a body the beginning of its JSON. */
export function jsonOf(body: Buffer): Buffer {
  const found = FORM.exec(body.toString('latin1', 0, 64));
  if (found === null) return body;
  const end = body.indexOf('&', found[0].length);
  const value = body.subarray(found[0].length, end === -1 ? body.length : end);
  const [first] = unescapeForm(value.subarray(0, 3));
  const isJson = first === BRACE || first === BRACKET;
  // In base64 a plus that was not escaped is one.
  const text = unescapeForm(value, isJson ? SPACE : PLUS);
  return isJson ? text : Buffer.from(text.toString('latin1'), 'base64');
}

function unescapeForm(value: Buffer, plus = PLUS): Buffer {
  const text = Buffer.allocUnsafe(value.length);
  let length = 0;
  for (let i = 0; i < value.length; i += 1) {
    let byte = value[i] as number;
    if (byte === PLUS) byte = plus;
    else if (byte === PERCENT) {
      const [high, low] = [digit(value[i + 1]), digit(value[i + 2])];
      if (high >= 0 && low >= 0) {
        byte = high * 16 + low;
        i += 2;
      }
    }
    text[length++] = byte;
  }
  return text.subarray(0, length);
}

/** -1: none. */
function digit(byte = 0): number {
  if (byte >= 48 && byte <= 57) return byte - 48;
  const letter = byte | 32;
  return letter >= 97 && letter <= 102 ? letter - 87 : -1;
}
