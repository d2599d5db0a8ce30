// The forms in which a target may send a secret back: as it is, in base64 and in hex, and those as they stand in URLs, JSON and HTML.

/** A shorter form would also be found where no secret is. */
const FORM_BYTES_MIN = 6;

/** Of a longer secret, and of those behind so many characters of others, the usual forms alone are built: all of them together would take the event loop 100 ms. */
const LONG_CHARACTERS = 512;

type Writing = (text: string) => string;

const percent: Writing = (text) => encodeURIComponent(text);
// RFC 3986 reserves these too; encodeURIComponent is older.
const percentStrict: Writing = (text) => percent(text).replace(/[!'()*]/g, (character) => `%${hexOf(character)}`);
const json: Writing = (text) => JSON.stringify(text).slice(1, -1);
const jsonOfAscii: Writing = (text) => json(text).replace(/[^\0-\x7f]/g, unicodeEscape);

/** What none of them changes: most tokens, for which the forms are built in a fifth of the time. */
const WRITTEN_ALIKE = /^[\w.-]*$/;

const WRITINGS: readonly Writing[] = [
  (text) => text,
  percent,
  percentStrict,
  // Python's quote() leaves slashes, encodeURI all that is reserved.
  (text) => percent(text).replaceAll('%2F', '/'),
  (text) => encodeURI(text),
  // application/x-www-form-urlencoded: of the WHATWG URL standard, and as Python, PHP and Java write it.
  (text) => new URLSearchParams({ '': text }).toString().slice(1),
  (text) => percentStrict(text).replaceAll('%20', '+'),
  json,
  // Python and PHP escape what is not ASCII, PHP slashes as well.
  jsonOfAscii,
  (text) => json(text).replaceAll('/', '\\/'),
  (text) => jsonOfAscii(text).replaceAll('/', '\\/'),
  // Go and Rails.
  (text) => json(text).replace(/[<>&\u2028\u2029]/g, unicodeEscape),
  // .NET.
  (text) =>
    json(text)
      .replaceAll('\\"', '\\u0022')
      .replace(/[&'+<>`]|[^\0-\x7e]/g, unicodeEscape),
  htmlEscape({}),
  htmlEscape({ '"': '&quot;' }),
  htmlEscape({ '"': '&quot;', "'": '&#39;' }),
  htmlEscape({ '"': '&quot;', "'": '&#x27;' }),
  htmlEscape({ '"': '&quot;', "'": '&apos;' }),
  // Go, in text and in attributes.
  htmlEscape({ '"': '&#34;', "'": '&#39;' }),
  htmlEscape({ '"': '&#34;', "'": '&#39;', '+': '&#43;' }),
  // Mustache.
  htmlEscape({ '"': '&quot;', "'": '&#39;', '/': '&#x2F;', '`': '&#x60;', '=': '&#x3D;' }),
];

/**
 * The byte patterns to search for, each once. None is shorter than 6 bytes.
 * Not among them: base64 that is broken into lines, escapes that only some characters have by choice, and what a target computes of a secret.
 */
export function formsOf(secrets: readonly string[]): Buffer[] {
  let characters = 0;
  const texts = new Set<string>();
  for (const secret of secrets) {
    characters += secret.length;
    for (const text of textForms(secret.toWellFormed(), characters > LONG_CHARACTERS)) texts.add(text);
  }
  return [...texts].map((text) => Buffer.from(text)).filter(({ length }) => length >= FORM_BYTES_MIN);
}

/** `isLong`: it, with those before it. */
function textForms(secret: string, isLong: boolean): string[] {
  const bytes = Buffer.from(secret);
  if (isLong) {
    return [secret, ...base64Forms(bytes)].flatMap((text) => [text, percent(text), json(text)]);
  }
  const hex = bytes.toString('hex');
  const everyByte = hex.replace(/../g, '%$&');
  const everyUnit = Array.from({ length: secret.length }, (_, i) => unicodeEscape(secret.charAt(i))).join('');
  const plain = new Set([secret, ...base64Forms(bytes)]);
  const escaped = [...plain].flatMap((text) =>
    WRITTEN_ALIKE.test(text) ? text : WRITINGS.map((write) => write(text)),
  );
  return [hex, hex.toUpperCase(), ...[everyByte, everyUnit, ...escaped].flatMap(bothCases)];
}

/**
 * Base64 at each of the three places in a group where a secret can begin, without the characters that its neighbours have a part in; and
 * the whole, whose last character ends in zero bits where nothing follows. Base64url as well.
 */
function base64Forms(bytes: Buffer): string[] {
  const aligned = [0, 1, 2].map((offset) => {
    const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
    return text.slice(Math.ceil((8 * offset) / 6), Math.floor((8 * (offset + bytes.length)) / 6));
  });
  const all = [bytes.toString('base64').replace(/=+$/, ''), ...aligned];
  return [...all, ...all.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'))];
}

/** The hexadecimal digits of escapes may be of either case. */
function bothCases(text: string): string[] {
  const lower = text.replace(/%[0-9a-f]{2}|\\u[0-9a-f]{4}/gi, (code) => code.toLowerCase());
  const upper = lower.replace(/(?<=%)[0-9a-f]{2}|(?<=\\u)[0-9a-f]{4}/g, (digits) => digits.toUpperCase());
  return [text, lower, upper];
}

function htmlEscape(more: Readonly<Record<string, string>>): Writing {
  const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', ...more };
  return (text) => text.replace(/[&<>"'+/`=]/g, (character) => entities[character] ?? character);
}

function unicodeEscape(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function hexOf(character: string): string {
  return character.charCodeAt(0).toString(16).toUpperCase();
}
