// The return URL of a provider's page. It has a key that only the provider and the payer know. Whoever knows only the id of a payment is
// not redirected to the caller's page.
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Core } from '../core/core.ts';

interface ReturnCore extends Pick<Core, 'baseUrl'> {
  readonly secrets: Core['secrets'] | null;
}

/** @param id of a top-up, a subscription, or a page to leave a payment method */
export function returnAddress({ baseUrl, secrets }: ReturnCore, id: string): string {
  return `${baseUrl}/pay/return/${id}${secrets === null ? '' : `?key=${keyOf(secrets, id)}`}`;
}

export function isReturnKey({ secrets }: Pick<Core, 'secrets'>, id: string, sent: string): boolean {
  const [wanted, given] = [Buffer.from(keyOf(secrets, id)), Buffer.from(sent)];
  return wanted.length === given.length && timingSafeEqual(wanted, given);
}

function keyOf(secrets: Core['secrets'], id: string): string {
  return createHmac('sha256', secrets.derive('payment-return', 32)).update(id).digest('base64url').slice(0, 22);
}
