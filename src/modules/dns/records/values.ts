// Values of records by type: parsed from typed input, and written as in zone files and on the wire. They have one form, stored and answered:
// names whole and in lower case, addresses in their short form, texts as they are, without quotes.
import { isIPv4, isIPv6 } from 'node:net';
import { TXT_BYTES_MAX } from '../limits.ts';
import { nameBytes, uint16s } from '../wire/message.ts';
import { readName } from './names.ts';
import { BadValue, type Token, tokensOf } from './tokens.ts';

export const recordTypes = ['A', 'AAAA', 'CNAME', 'MX', 'TXT', 'NS', 'SRV', 'CAA', 'PTR'] as const;
export type RecordType = (typeof recordTypes)[number];

interface TypeForm {
  /** What a value looks like, for the message. */
  readonly example: string;
  /** @param name reads a name; null: it is none. Null when the words are no value. */
  read(tokens: readonly Token[], name: (text: Token | undefined) => string | null): string | null;
  /** Rdata of a value that `read` answered. */
  wire(value: string): Buffer;
}

const TEXT_PIECE_BYTES = 255;
const utf8 = new TextDecoder('utf-8', { fatal: true });

const oneName: TypeForm = {
  example: 'host.example.org',
  read: ([token, ...more], name) => (more.length > 0 ? null : name(token)),
  wire: nameBytes,
};

const forms: Readonly<Record<RecordType, TypeForm>> = {
  A: {
    example: '192.0.2.1',
    read: ([token, ...more]) => (more.length === 0 && isIPv4(token?.text ?? '') ? (token?.text ?? null) : null),
    wire: (value) => Buffer.from(value.split('.').map(Number)),
  },
  AAAA: {
    example: '2001:db8::1',
    read([token, ...more]) {
      const text = token?.text ?? '';
      if (more.length > 0 || !isIPv6(text) || text.includes('%')) return null;
      return new URL(`http://[${text}]`).hostname.slice(1, -1);
    },
    wire: addressBytes,
  },
  CNAME: oneName,
  NS: oneName,
  PTR: oneName,
  MX: {
    example: '10 mail.example.org',
    read([preference, host, ...more], name) {
      const target = rootOr(host, name);
      return more.length > 0 || !isBelow(preference, 65_535) || target === null ? null : `${preference.text} ${target}`;
    },
    wire(value) {
      const [preference = '', host = ''] = value.split(' ');
      return Buffer.concat([uint16s(Number(preference)), nameBytes(host)]);
    },
  },
  TXT: {
    example: 'v=spf1 -all',
    read(tokens) {
      if (tokens.length === 0) return null;
      const bytes = Buffer.from(tokens.map(({ text }) => text).join(''), 'latin1');
      return bytes.length > TXT_BYTES_MAX ? null : plain(utf8.decode(bytes));
    },
    wire(value) {
      const bytes = Buffer.from(value, 'utf8');
      const pieces = Array.from({ length: Math.max(1, Math.ceil(bytes.length / TEXT_PIECE_BYTES)) }, (_, i) =>
        bytes.subarray(i * TEXT_PIECE_BYTES, (i + 1) * TEXT_PIECE_BYTES),
      );
      return Buffer.concat(pieces.flatMap((piece) => [Buffer.of(piece.length), piece]));
    },
  },
  SRV: {
    example: '10 5 5060 sip.example.org',
    read([priority, weight, port, host, ...more], name) {
      const target = rootOr(host, name);
      const isWrong = more.length > 0 || target === null;
      if (isWrong || !isBelow(priority, 65_535) || !isBelow(weight, 65_535) || !isBelow(port, 65_535)) return null;
      return `${priority.text} ${weight.text} ${port.text} ${target}`;
    },
    wire(value) {
      const [priority = '', weight = '', port = '', host = ''] = value.split(' ');
      return Buffer.concat([uint16s(Number(priority), Number(weight), Number(port)), nameBytes(host)]);
    },
  },
  CAA: {
    example: '0 issue "letsencrypt.org"',
    read([flags, tag, value, ...more]) {
      if (more.length > 0 || !isBelow(flags, 255) || value === undefined) return null;
      if (!/^[a-z0-9]{1,15}$/i.test(tag?.text ?? '') || !/^[ !#-[\]-~]{0,255}$/.test(value.text)) return null;
      return `${flags.text} ${tag?.text.toLowerCase()} "${value.text}"`;
    },
    wire(value) {
      const [, flags = '', tag = '', text = ''] = /^(\d+) (\w+) "(.*)"$/.exec(value) ?? [];
      return Buffer.concat([Buffer.of(Number(flags), tag.length), Buffer.from(tag + text, 'latin1')]);
    },
  },
};

/**
 * The value in its stored form. A text that begins with no quote is itself a value of TXT.
 * @throws BadValue
 */
export function readValue(type: RecordType, typed: string): string {
  const isPlain = type === 'TXT' && !typed.startsWith('"');
  if (!isPlain) return fileValueOf(type, tokensOf(typed), (text) => readName(text));
  if (Buffer.byteLength(typed) > TXT_BYTES_MAX || plain(typed) === null) throw notOf(type);
  return typed;
}

/** The same of the words of a zone file; `nameOf` reads a name as it is meant there. Throws BadValue. */
export function fileValueOf(
  type: RecordType,
  tokens: readonly Token[],
  nameOf: (text: string) => string | null,
): string {
  const name = (token: Token | undefined) => {
    const read = token === undefined || token.isEscaped ? null : nameOf(Buffer.from(token.text, 'latin1').toString());
    return read?.startsWith('*') === true ? null : read;
  };
  let value: string | null;
  try {
    value = forms[type].read(tokens, name);
  } catch (cause) {
    if (cause instanceof TypeError) throw new BadValue('A text must be UTF-8.', { cause });
    throw cause;
  }
  if (value === null) throw notOf(type);
  return value;
}

/** As a zone file has it. */
export function fileValue(type: RecordType, value: string): string {
  if (type === 'TXT') return quotedPieces(value);
  return type === 'A' || type === 'AAAA' || type === 'CAA' ? value : value.replace(/([^ .])$/, '$1.');
}

export function rdataOf(type: RecordType, value: string): Buffer {
  return forms[type].wire(value);
}

function notOf(type: RecordType): BadValue {
  const texts = type === 'TXT' ? ` It has at most ${TXT_BYTES_MAX} bytes and no control characters.` : '';
  return new BadValue(`This is no value of ${type}, such as ${forms[type].example}.${texts}`);
}

function plain(text: string): string | null {
  return /^[^\p{Cc}\p{Cs}]*$/u.test(text) ? text : null;
}

function isBelow(token: Token | undefined, max: number): token is Token {
  return token !== undefined && /^(?:0|[1-9]\d{0,4})$/.test(token.text) && Number(token.text) <= max;
}

/** `.` stands for no host (RFC 7505, RFC 2782). */
function rootOr(token: Token | undefined, name: (token: Token | undefined) => string | null): string | null {
  return token?.text === '.' && !token.isQuoted ? '.' : name(token);
}

/** Of an address as URLs have it: groups of hex digits, at most one `::`. */
function addressBytes(address: string): Buffer {
  const [first = [], last = []] = address.split('::').map((part) => part.split(':').filter((group) => group !== ''));
  const groups = [...first, ...Array<string>(8 - first.length - last.length).fill('0'), ...last];
  return uint16s(...groups.map((group) => Number.parseInt(group, 16)));
}

function quotedPieces(value: string): string {
  const bytes = Buffer.from(value, 'utf8');
  const pieces: string[] = [];
  for (let at = 0; at === 0 || at < bytes.length; at += TEXT_PIECE_BYTES) {
    const piece = bytes.toString('latin1', at, at + TEXT_PIECE_BYTES);
    pieces.push(`"${piece.replaceAll(/["\\]|[^ -~]/g, escapedByte)}"`);
  }
  return pieces.join(' ');
}

function escapedByte(char: string): string {
  return char === '"' || char === '\\' ? `\\${char}` : `\\${String(char.charCodeAt(0)).padStart(3, '0')}`;
}
