// Parser for deliver_sm: a receipt of a part, an inbound message, or a part of one (SMPP 3.4, §4.6 and appendix B).
import type { Pdu } from 'smpp';
import type { Receipt } from '../port.ts';

export interface DeliveryReceipt {
  /** The message by the carrier's name for it, as it may have been written in the answer to the submit. */
  readonly references: readonly string[];
  /** Null: it is on its way still. */
  readonly receipt: Receipt | null;
}

const MESSAGE_TYPE = 0x3c;
const RECEIPT_TYPES: readonly number[] = [0x04, 0x08, 0x20];
const ENDS: Readonly<Record<string, Receipt['status']>> = {
  DELIVRD: 'delivered',
  ACKED: 'delivered',
  EXPIRED: 'failed',
  DELETED: 'failed',
  UNDELIV: 'failed',
  REJECTD: 'failed',
};
/** Of the field `message_state`. */
const STATES: Readonly<Record<number, string>> = {
  2: 'DELIVRD',
  3: 'EXPIRED',
  4: 'DELETED',
  5: 'UNDELIV',
  7: 'UNKNOWN',
  8: 'REJECTD',
};

/** Null: it is no receipt. */
export function readReceipt(pdu: Pdu): DeliveryReceipt | null {
  if (!RECEIPT_TYPES.includes((pdu.esm_class ?? 0) & MESSAGE_TYPE)) return null;
  const text = textOf(pdu);
  const field = (name: string) => new RegExp(`(?:^|\\s)${name}:\\s*(\\S+)`, 'i').exec(text)?.[1];
  const reference = pdu.receipted_message_id ?? field('id') ?? '';
  const state =
    (pdu.message_state === undefined ? undefined : STATES[pdu.message_state]) ?? field('stat')?.toUpperCase() ?? '';
  const status = ENDS[state];
  const error = field('err');
  const errorCode =
    status === 'delivered'
      ? null
      : `${state.toLowerCase()}${error === undefined || /^0*$/.test(error) ? '' : `_${error}`}`;
  return { references: spellings(reference), receipt: status === undefined ? null : { status, errorCode } };
}

/** Some carriers answer a submit with a hexadecimal number, and write it in decimal in the receipt, or the reverse. */
function spellings(reference: string): string[] {
  const found = [reference];
  if (/^\d{1,19}$/.test(reference))
    found.push(BigInt(reference).toString(16), BigInt(reference).toString(16).toUpperCase());
  if (/^[0-9a-f]{1,16}$/i.test(reference)) found.push(BigInt(`0x${reference}`).toString());
  return [...new Set(found)];
}

export interface Piece {
  readonly text: string;
  /** Null: the whole message. */
  readonly of: { readonly reference: number; readonly total: number; readonly number: number } | null;
}

/** A message of a person, or a part of one. */
export function readPiece(pdu: Pdu): Piece {
  const text = textOf(pdu);
  const { sar_msg_ref_num: reference, sar_total_segments: total, sar_segment_seqnum: number } = pdu;
  if (reference !== undefined && total !== undefined && number !== undefined)
    return { text, of: partOf(reference, total, number) };
  for (const element of pdu.short_message?.udh ?? []) {
    if (element[0] === 0x00 && element[1] === 3) return { text, of: partOf(element[2], element[3], element[4]) };
    if (element[0] === 0x08 && element[1] === 4)
      return { text, of: partOf(element.readUInt16BE(2), element[4], element[5]) };
  }
  return { text, of: null };
}

function partOf(reference = 0, total = 1, number = 1): Piece['of'] {
  return total > 1 && number >= 1 && number <= total ? { reference, total, number } : null;
}

function textOf({ short_message: short, message_payload: payload }: Pdu): string {
  const long = typeof payload === 'string' ? payload : payload?.message;
  const message = short?.message?.length ? short.message : (long ?? '');
  return typeof message === 'string' ? message : message.toString('latin1');
}
