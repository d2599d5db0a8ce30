// What a message of Stripe is about. Its signature shows that Stripe sent it; what it says of the object is not believed.
import Stripe from 'stripe';
import type { Hint } from '../port.ts';

const TOLERANCE_SECONDS = 300;

/** The objects that the message names, each with what its metadata say; null: the signature does not hold for these bytes and this time. */
export function readHint(rawBody: Buffer, signature: string, secret: string, nowMs: number): Hint[] | null {
  try {
    const event = Stripe.webhooks.constructEvent(rawBody, signature, secret, TOLERANCE_SECONDS, undefined, nowMs);
    return hintsOf(event.data.object as Named);
  } catch (error) {
    if (error instanceof Stripe.errors.StripeSignatureVerificationError || error instanceof SyntaxError) return null;
    throw error;
  }
}

/** The fields of any object of Stripe that say what else is concerned. */
interface Named {
  readonly id?: unknown;
  readonly payment_intent?: unknown;
  readonly metadata?: Readonly<Record<string, unknown>> | null;
  readonly subscription?: unknown;
  readonly parent?: { readonly subscription_details?: { readonly subscription?: unknown } | null } | null;
}

function hintsOf(object: Named): Hint[] {
  const { id: ownId, account_id: accountId } = object.metadata ?? {};
  const owner = { accountId: textOrNull(accountId), id: textOrNull(ownId) };
  const refs = [
    object.id,
    object.payment_intent,
    object.subscription,
    object.parent?.subscription_details?.subscription,
  ];
  return [...new Set(refs.map(textOrNull))].filter((ref) => ref !== null).map((ref) => ({ ref, ...owner }));
}

const TEXT_MAX = 255;

/** Also of an expanded object. */
function textOrNull(value: unknown): string | null {
  if (typeof value === 'object' && value !== null && 'id' in value) return textOrNull(value.id);
  return typeof value === 'string' && value !== '' && value.length <= TEXT_MAX ? value : null;
}
