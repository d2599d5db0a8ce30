// Stripe's adapter on its double, with what people do at Stripe.
import { stripeProvider } from '../../src/vendors/payments/stripe/index.ts';
import { SECRET_KEY, type StripeDouble, WEBHOOK_SECRET } from '../support/stripe/double.ts';
import type { Subscription } from '../support/stripe/objects.ts';
import type { ProviderBench } from './conformance.ts';

export function stripeBench(double: StripeDouble): ProviderBench {
  const { account, url: apiBase } = double;
  return {
    provider: stripeProvider({ secretKey: SECRET_KEY, webhookSecret: WEBHOOK_SECRET, apiBase }),
    pay: async (url, card) => account.pay(url, card),
    advance: async (seconds) => account.advance(seconds),
    nowMs: async () => account.now * 1_000,
    async refundElsewhere(paymentRef, amountMinor) {
      account.refund(paymentRef, amountMinor, {});
    },
    dispute: async (paymentRef, amountMinor) => account.dispute(paymentRef, amountMinor).id,
    payInvoice: async (url) => account.payInvoice(url),
    async reprice(subscriptionRef, amountMinor) {
      account.find<Subscription>(subscriptionRef).amount = amountMinor;
    },
    closeDispute: async (disputeRef, outcome) => account.closeDispute(disputeRef, outcome),
  };
}
