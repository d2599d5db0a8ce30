// Objects that a Stripe message concerns. The signature proves that Stripe sent it; its statements about the object are not trusted.
import Stripe from 'stripe';
import type { Hint } from '../port.ts';

const TOLERANCE_SECONDS = 300;

/**
 * The objects that the message names, each with what its metadata say; none for a message of another shape. Null: the signature does not
 * hold for these bytes and this time.
 */
export function readHint(rawBody: Buffer, signature: string, secret: string, nowMs: number): Hint[] | null {
  try {
    const event: unknown = Stripe.webhooks.constructEvent(
      rawBody,
      signature,
      secret,
      TOLERANCE_SECONDS,
      undefined,
      nowMs,
    );
    return hintsOf(within(event, 'data', 'object'));
  } catch (error) {
    if (error instanceof Stripe.errors.StripeSignatureVerificationError || error instanceof SyntaxError) return null;
    throw error;
  }
}

/** The fields of any object of Stripe that say what else is concerned. */
function hintsOf(object: unknown): Hint[] {
  const owner = {
    accountId: textOrNull(within(object, 'metadata', 'account_id')),
    id: textOrNull(within(object, 'metadata', 'id')),
  };
  const refs = [
    within(object, 'id'),
    within(object, 'payment_intent'),
    within(object, 'subscription'),
    within(object, 'parent', 'subscription_details', 'subscription'),
  ];
  return [...new Set(refs.map(textOrNull))].filter((ref) => ref !== null).map((ref) => ({ ref, ...owner }));
}

/** What stands under these names, one within the other; undefined where there is no such object. */
function within(value: unknown, ...names: readonly string[]): unknown {
  return names.reduce<unknown>(
    (at, name) => (at as Readonly<Record<string, unknown>> | null | undefined)?.[name],
    value,
  );
}

const TEXT_MAX = 255;

/** Also of an expanded object. No id holds NUL, which the database takes in no text. */
function textOrNull(value: unknown): string | null {
  if (typeof value === 'object' && value !== null && 'id' in value) return textOrNull(value.id);
  const isRef = typeof value === 'string' && value !== '' && value.length <= TEXT_MAX && !value.includes('\0');
  return isRef ? value : null;
}
