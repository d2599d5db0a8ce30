// Converts Stripe's errors to those of the port. Only an answer of Stripe itself proves that nothing was done: after a network failure,
// or a failure inside Stripe, the write may have happened.
import Stripe from 'stripe';
import { PaymentProviderError } from '../port.ts';

/** Never returns: throws the PaymentProviderError that the failure is, or the failure when it is not Stripe's. */
export function fail(error: unknown): never {
  throw error instanceof Stripe.errors.StripeError ? providerError(error) : error;
}

function providerError(error: Stripe.errors.StripeError): PaymentProviderError {
  const code = error.code ?? error.rawType ?? error.type;
  const options = { cause: error };
  if (error instanceof Stripe.errors.StripeRateLimitError) return new PaymentProviderError('down', code, options);
  // The key of another request, or a request of the same key that still runs: what became of that one is not known from this.
  if (error instanceof Stripe.errors.StripeIdempotencyError || error.statusCode === 409)
    return new PaymentProviderError('unknown', code, options);
  const { statusCode = 0 } = error;
  const isAnswer = statusCode >= 400 && statusCode < 500;
  return new PaymentProviderError(isAnswer ? 'refused' : 'unknown', code, options);
}

/** Whether Stripe does not have the object, or has deleted it. */
export function isMissing(error: unknown): boolean {
  return error instanceof Stripe.errors.StripeInvalidRequestError && error.code === 'resource_missing';
}

/** Whether Stripe refused the request itself, and so did nothing. */
export function isRefusal(error: unknown): error is Stripe.errors.StripeInvalidRequestError {
  return error instanceof Stripe.errors.StripeInvalidRequestError && (error.statusCode ?? 0) < 500;
}

/** Why a card was not charged: the bank's word where it has one, else Stripe's. */
export function failureCode(error: { readonly code?: string; readonly decline_code?: string } | null): string | null {
  if (error === null) return null;
  const { code = 'card_declined', decline_code: bank } = error;
  return code === 'card_declined' && bank !== undefined && bank !== 'generic_decline' ? bank : code;
}
