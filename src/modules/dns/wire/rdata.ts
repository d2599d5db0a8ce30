// Converts the wire data of records to zone-file text: names without the last dot, texts without quotes.
import { Malformed, nameAt, TYPES, type WireRecord } from './message.ts';

/** The data of a record; of a type that is not known here in the form of RFC 3597, section 5. Throws Malformed. */
export function rdataText(bytes: Buffer, record: WireRecord): string {
  const { type, rdataAt, endAt } = record;
  switch (type) {
    case TYPES.A:
      requireBytes(record, 4, 4);
      return bytes.subarray(rdataAt, endAt).join('.');
    case TYPES.AAAA: {
      requireBytes(record, 16, 16);
      const groups = bytes.toString('hex', rdataAt, endAt).match(/.{4}/g) ?? [];
      return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1);
    }
    case TYPES.NS:
    case TYPES.CNAME:
    case TYPES.PTR:
    case TYPES.DNAME:
      return hostAt(bytes, rdataAt, endAt).name;
    case TYPES.MX:
      requireBytes(record, 3);
      return `${bytes.readUInt16BE(rdataAt)} ${hostAt(bytes, rdataAt + 2, endAt).name}`;
    case TYPES.SRV: {
      requireBytes(record, 7);
      const numbers = [0, 2, 4].map((at) => bytes.readUInt16BE(rdataAt + at));
      return `${numbers.join(' ')} ${hostAt(bytes, rdataAt + 6, endAt).name}`;
    }
    case TYPES.TXT:
      return textBytes(bytes, record).toString('utf8');
    case TYPES.CAA: {
      requireBytes(record, 2);
      const valueAt = rdataAt + 2 + (bytes[rdataAt + 1] as number);
      if (valueAt > endAt) throw new Malformed('a tag is cut');
      const tag = bytes.toString('latin1', rdataAt + 2, valueAt);
      return `${bytes[rdataAt]} ${tag} "${bytes.toString('latin1', valueAt, endAt)}"`;
    }
    case TYPES.SOA: {
      const primary = hostAt(bytes, rdataAt, endAt);
      const mailbox = hostAt(bytes, primary.endAt, endAt);
      if (mailbox.endAt + 20 > endAt) throw new Malformed('a record is too short');
      const numbers = [0, 4, 8, 12, 16].map((at) => bytes.readUInt32BE(mailbox.endAt + at));
      return [primary.name, mailbox.name, ...numbers].join(' ');
    }
    default:
      return `\\# ${endAt - rdataAt} ${bytes.toString('hex', rdataAt, endAt)}`;
  }
}

/** The pieces of a TXT record, joined. Throws Malformed. */
export function textBytes(bytes: Buffer, { rdataAt, endAt }: Pick<WireRecord, 'rdataAt' | 'endAt'>): Buffer {
  const pieces: Buffer[] = [];
  for (let at = rdataAt; at < endAt; ) {
    const next = at + 1 + (bytes[at] as number);
    if (next > endAt) throw new Malformed('a text is cut');
    pieces.push(bytes.subarray(at + 1, next));
    at = next;
  }
  return Buffer.concat(pieces);
}

function hostAt(bytes: Buffer, at: number, rdataEnd: number): { readonly name: string; readonly endAt: number } {
  const host = nameAt(bytes, at);
  if (host === null || host.endAt > rdataEnd) throw new Malformed('a name cannot be read');
  return host;
}

function requireBytes({ rdataAt, endAt }: WireRecord, least: number, most = Number.POSITIVE_INFINITY): void {
  const size = endAt - rdataAt;
  if (size < least || size > most) throw new Malformed('a record has not the length of its type');
}
