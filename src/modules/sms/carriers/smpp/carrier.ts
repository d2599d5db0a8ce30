// Carrier over SMPP. Messages are submitted part by part, with a bounded number of unanswered submits; receipts and inbound messages arrive on
// the same session.
import { randomInt } from 'node:crypto';
import pLimit from 'p-limit';
import type { Pdu } from 'smpp';
import type { Services } from '../../../../kit/services.ts';
import { lruOf } from '../../../../lib/lru.ts';
import type { BreakerEffect } from '../../../../vendors/call/port.ts';
import type { ModelRow } from '../../../../vendors/file/port.ts';
import { SUBMIT_MS } from '../../limits.ts';
import { segmentBytes } from '../../segments.ts';
import type { SmppOptions } from '../family.ts';
import type { Carrier, CarrierListener, OutboundSms, SubmitOutcome } from '../port.ts';
import { readPiece, readReceipt } from './receipt.ts';
import { refusalOf } from './refusals.ts';
import { type Down, SmppSession, type Submitted } from './session.ts';
import { submitFields } from './submit.ts';

const WINDOW = 10;
const READY_MS = 3_000;
/** So long a message waits for room in the window. */
const WINDOW_WAIT_MS = 20_000;
/** Unfinished messages of people that are remembered. */
const PIECES_REMEMBERED = 1_000;
const NONE: BreakerEffect = { kind: 'none' };
const COUNTS: BreakerEffect = { kind: 'counts' };
/** Five minutes, as every vendor that refuses its login. */
const REFUSED: BreakerEffect = { kind: 'opens', ms: 5 * 60_000 };
const ESME_RX_T_APPN = 0x64;
const UNKNOWN = 'It is not known whether the carrier took the message: its answer was lost.';

export class SmppCarrier implements Carrier {
  readonly #vendor: string;
  readonly #options: SmppOptions;
  readonly #session: SmppSession;
  readonly #window: ReturnType<typeof pLimit>;
  readonly #listener: CarrierListener;
  readonly #pieces = lruOf<Map<number, string>>(PIECES_REMEMBERED);

  constructor(core: Services, { vendor, options }: ModelRow, listener: CarrierListener) {
    this.#vendor = vendor.id;
    this.#options = options as unknown as SmppOptions;
    this.#listener = listener;
    this.#window = pLimit(this.#options.window ?? WINDOW);
    this.#session = new SmppSession({
      vendor: vendor.id,
      url: vendor.secrets?.url?.reveal() ?? vendor.baseUrl,
      log: core.log,
      systemId: this.#options.system_id,
      systemType: this.#options.system_type ?? '',
      password: vendor.secrets?.password?.reveal() ?? '',
      receiveDelivery: (pdu) => this.#receiveDelivery(pdu),
    });
  }

  async submit(message: OutboundSms, signal: AbortSignal): Promise<SubmitOutcome> {
    const down = await this.#session.ready(READY_MS);
    if (signal.aborted) return { kind: 'not_sent' };
    if (down !== null) return unreachable(down);
    const { encoding, parts } = await segmentBytes(message.text);
    const all = submitFields(message, { encoding, parts }, this.#options.long_messages ?? 'udh', randomInt(256));
    const references: string[] = [];
    const untilMs = performance.now() + WINDOW_WAIT_MS;
    for (const fields of all) {
      const came = await this.#window(() =>
        performance.now() > untilMs ? ({ kind: 'unsent' } as const) : this.#session.submit(fields, SUBMIT_MS),
      );
      const outcome = outcomeOf(came);
      if (outcome.kind !== 'accepted') {
        // A part that went before may have arrived.
        return references.length === 0
          ? outcome
          : { kind: 'unknown', breaker: NONE, message: UNKNOWN, vendorSaid: null };
      }
      references.push(outcome.reference);
    }
    return { kind: 'accepted', references, captured: false };
  }

  close(): Promise<void> {
    return this.#session.close();
  }

  async #receiveDelivery(pdu: Pdu): Promise<number> {
    const told = readReceipt(pdu);
    if (told !== null) {
      if (told.receipt === null) return 0;
      await this.#listener.receiptOf(this.#vendor, told.references, told.receipt);
      return 0;
    }
    const [from, to] = [phoneOf(pdu.source_addr), phoneOf(pdu.destination_addr)];
    const text = this.#whole(pdu, `${from} ${to}`);
    if (text === null) return 0;
    if (from === '' || to === '') return ESME_RX_T_APPN;
    await this.#listener.inbound(this.#vendor, { from, to, text, reference: null });
    return 0;
  }

  /** The text, once all its parts are there; null until then. */
  #whole(pdu: Pdu, pair: string): string | null {
    const { text, of } = readPiece(pdu);
    if (of === null) return text;
    const key = `${pair} ${of.reference} ${of.total}`;
    const pieces = this.#pieces.get(key) ?? new Map<number, string>();
    pieces.set(of.number, text);
    this.#pieces.set(key, pieces);
    if (pieces.size < of.total) return null;
    this.#pieces.delete(key);
    return [...pieces]
      .sort(([a], [b]) => a - b)
      .map(([, piece]) => piece)
      .join('');
  }
}

/** International numbers come with and without their `+`. */
function phoneOf(address = ''): string {
  return /^[1-9][0-9]{8,14}$/.test(address) ? `+${address}` : address;
}

function unreachable(down: Down): SubmitOutcome {
  const none = { vendorSaid: null, code: null };
  if (down === 'refused')
    return {
      kind: 'refused',
      reason: 'VENDOR_AUTH_ERROR',
      breaker: REFUSED,
      message: "The carrier refuses the operator's login.",
      ...none,
    };
  return {
    kind: 'refused',
    reason: 'VENDOR_DOWN',
    breaker: COUNTS,
    message: 'The carrier cannot be reached.',
    ...none,
  };
}

type PartOutcome =
  | { readonly kind: 'accepted'; readonly reference: string }
  | Exclude<SubmitOutcome, { kind: 'accepted' }>;

function outcomeOf(came: Submitted): PartOutcome {
  if (came.kind === 'unsent') return unreachable('connecting') as PartOutcome;
  if (came.kind === 'lost') return { kind: 'unknown', breaker: COUNTS, message: UNKNOWN, vendorSaid: null };
  const { command_status: status, message_id: reference = '' } = came.pdu;
  return status === 0 ? { kind: 'accepted', reference } : refusalOf(status);
}
