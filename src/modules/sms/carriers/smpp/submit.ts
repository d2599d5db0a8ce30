// Encodes a message as submit_sm fields, one submit per segment. Each has a header with its part number, unless one submit holds the whole
// message.

import type { SmsEncoding } from '../../segments.ts';
import type { OutboundSms } from '../port.ts';

interface Address {
  readonly ton: number;
  readonly npi: number;
  readonly text: string;
}

const UDH_INDICATOR = 0x40;
const DATA_CODING: Readonly<Record<SmsEncoding, number>> = { gsm7: 0x00, ucs2: 0x08 };
const REGISTERED = 1;

export function submitFields(
  { to, from }: Pick<OutboundSms, 'to' | 'from'>,
  { encoding, parts }: { readonly encoding: SmsEncoding; readonly parts: readonly Buffer[] },
  long: 'udh' | 'payload',
  /** Of a long message, 0-255. */
  reference: number,
): Readonly<Record<string, unknown>>[] {
  const [source, destination] = [addressOf(from), addressOf(to)];
  const common = {
    source_addr_ton: source.ton,
    source_addr_npi: source.npi,
    source_addr: source.text,
    dest_addr_ton: destination.ton,
    dest_addr_npi: destination.npi,
    destination_addr: destination.text,
    data_coding: DATA_CODING[encoding],
    registered_delivery: REGISTERED,
  };
  const [only] = parts;
  if (parts.length <= 1) return [{ ...common, short_message: only ?? Buffer.alloc(0) }];
  if (long === 'payload') return [{ ...common, message_payload: Buffer.concat(parts) }];
  return parts.map((part, i) => {
    const header = Buffer.from([5, 0, 3, reference, parts.length, i + 1]);
    return { ...common, esm_class: UDH_INDICATOR, short_message: Buffer.concat([header, part]) };
  });
}

/** International number, short code, or a name (SMPP 3.4, §5.2.5 and §5.2.6). */
function addressOf(text: string): Address {
  if (text.startsWith('+')) return { ton: 1, npi: 1, text: text.slice(1) };
  return /^\d+$/.test(text) ? { ton: 3, npi: 0, text } : { ton: 5, npi: 0, text };
}
