// The built-in sandbox carrier: it accepts every message and sends none. The module's background work makes its receipts.
import type { Carrier, Receipt } from './port.ts';

const FAILING = /0000$/;

export const sandboxCarrier: Carrier = {
  submit: async ({ smsId }) => ({ kind: 'accepted', references: [smsId], captured: true }),
};

/** As carriers do it: a number that ends in 0000 took the message, and cannot be reached. */
export function sandboxReceipt(to: string): Receipt {
  return FAILING.test(to) ? { status: 'failed', errorCode: 'unreachable' } : { status: 'delivered', errorCode: null };
}
