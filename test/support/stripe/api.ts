// The endpoints of Stripe that the service uses: which parameters each takes, and what it does.
import type Stripe from 'stripe';
import type { StripeAccount } from './account.ts';
import type { Fields } from './form.ts';
import {
  type Customer,
  type Dispute,
  type Intent,
  invalid,
  type Method,
  type Refund,
  type Session,
  type StripeObject,
  type Subscription,
} from './objects.ts';

export interface Endpoint {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: RegExp;
  /** Names of the parameters; another one is refused, as Stripe does. */
  readonly takes: readonly string[];
  run(account: StripeAccount, id: string, fields: Fields): StripeObject | { object: 'list'; data: StripeObject[] };
}

/** Names that the package knows as parameters of the call. */
const params =
  <Params>() =>
  <Name extends keyof Params & string>(...names: Name[]) =>
    names;

const text = (value: Fields[string] | undefined) => (typeof value === 'string' ? value : null);
const within = (value: Fields[string] | undefined) =>
  typeof value === 'object' && !Array.isArray(value) ? value : ({} as Fields);
const metadataOf = (fields: Fields) => within(fields.metadata) as Stripe.Metadata;
const list = (data: StripeObject[]) => ({ object: 'list' as const, data, has_more: false, url: '/v1/list' });

function whole(fields: Fields, name: string): number {
  const value = Number(text(fields[name]));
  if (!Number.isSafeInteger(value) || value < 1) throw invalid(name, 'parameter_invalid_integer');
  return value;
}

/** What one line costs, once or each month. */
function lineOf(fields: Fields): { amount: number; currency: string; interval: string | null } {
  const [line] = fields.line_items as Fields[];
  const price = within(line?.price_data);
  if (text(within(price.product_data).name) === null) throw invalid('line_items[0][price_data]', 'parameter_missing');
  const interval = text(within(price.recurring).interval);
  return { amount: whole(price, 'unit_amount'), currency: text(price.currency) ?? '', interval };
}

function makeSession(account: StripeAccount, _id: string, fields: Fields): Session {
  const mode = text(fields.mode) as Session['mode'];
  const customer = text(fields.customer);
  if (customer !== null) account.find<Customer>(customer, 'customer');
  const data = within(
    fields[
      { payment: 'payment_intent_data', setup: 'setup_intent_data', subscription: 'subscription_data' }[
        mode as 'payment'
      ]
    ],
  );
  const saves = text(data.setup_future_usage) === 'off_session';
  const line = mode === 'setup' ? { amount: null, currency: text(fields.currency), interval: null } : lineOf(fields);
  if ((line.interval !== null) !== (mode === 'subscription')) throw invalid('line_items', 'parameter_invalid');
  const expires_at = Number(text(fields.expires_at));
  const isInTime = expires_at >= account.now + 30 * 60 && expires_at <= account.now + 86_400;
  if (!isInTime)
    throw invalid('expires_at', 'parameter_invalid', `${expires_at} is not within 30 minutes and 24 hours`);
  const id = account.newId('cs_test');
  return account.add<Session>({
    id,
    object: 'checkout.session',
    mode,
    status: 'open',
    payment_status: mode === 'setup' ? 'no_payment_required' : 'unpaid',
    url: `https://checkout.stripe.example/c/pay/${id}`,
    amount_total: line.amount,
    currency: line.currency,
    expires_at,
    customer,
    client_reference_id: text(fields.client_reference_id),
    metadata: metadataOf(fields),
    payment_intent: null,
    setup_intent: null,
    subscription: null,
    success_url: text(fields.success_url) ?? '',
    asked: { metadata: metadataOf(data), saves, interval: line.interval },
  });
}

function makeIntent(account: StripeAccount, _id: string, fields: Fields): Intent {
  const customer = text(fields.customer);
  const method = account.find<Method>(text(fields.payment_method) ?? '', 'payment_method');
  if (method.customer === null || method.customer !== customer)
    throw invalid('payment_method', 'payment_method_unexpected_state', 'It is not attached to the customer.');
  const intent = account.intent({
    amount: whole(fields, 'amount'),
    currency: text(fields.currency) ?? '',
    metadata: metadataOf(fields),
    customer,
    payment_method: method.id,
  });
  account.chargeNow(intent);
  return intent;
}

function changeSubscription(account: StripeAccount, id: string, fields: Fields): Subscription {
  const subscription = account.find<Subscription>(id);
  if (subscription.status === 'canceled') throw invalid('id', 'resource_missing', 'A canceled subscription.');
  subscription.cancel_at_period_end = text(fields.cancel_at_period_end) === 'true';
  account.tell('customer.subscription.updated', subscription);
  return subscription;
}

function cancelNow(account: StripeAccount, id: string): Subscription {
  const subscription = account.find<Subscription>(id);
  if (subscription.status === 'canceled') throw invalid('id', 'resource_missing', 'A canceled subscription.');
  account.cancel(subscription);
  return subscription;
}

function detach(account: StripeAccount, id: string): Method {
  const method = account.find<Method>(id);
  if (method.customer === null)
    throw invalid('payment_method', 'payment_method_unexpected_state', 'It is not attached.');
  method.customer = null;
  account.tell('payment_method.detached', method);
  return method;
}

const one = (path: RegExp): Endpoint => ({
  method: 'GET',
  path,
  takes: ['expand'],
  run: (account, id) => account.find(id),
});

const ofPayment = (fields: Fields) => (each: Refund | Dispute) => each.payment_intent === text(fields.payment_intent);

export const endpoints: readonly Endpoint[] = [
  {
    method: 'POST',
    path: /^\/v1\/customers$/,
    takes: params<Stripe.CustomerCreateParams>()('metadata', 'email', 'name'),
    run: (account, _id, fields) =>
      account.add<Customer>({
        id: account.newId('cus'),
        object: 'customer',
        email: text(fields.email),
        metadata: metadataOf(fields),
      }),
  },
  {
    method: 'POST',
    path: /^\/v1\/customers\/(\w+)$/,
    takes: params<Stripe.CustomerUpdateParams>()('metadata', 'email', 'name'),
    run: (account, id, fields) => Object.assign(account.find<Customer>(id), { email: text(fields.email) }),
  },
  {
    method: 'POST',
    path: /^\/v1\/checkout\/sessions$/,
    takes: params<Stripe.Checkout.SessionCreateParams>()(
      ...([
        'mode',
        'customer',
        'line_items',
        'client_reference_id',
        'success_url',
        'cancel_url',
        'expires_at',
      ] as const),
      ...(['metadata', 'adaptive_pricing', 'currency', 'payment_intent_data', 'setup_intent_data'] as const),
      'subscription_data',
    ),
    run: makeSession,
  },
  one(/^\/v1\/checkout\/sessions\/(\w+)$/),
  {
    method: 'POST',
    path: /^\/v1\/payment_intents$/,
    takes: params<Stripe.PaymentIntentCreateParams>()(
      ...(['amount', 'currency', 'customer', 'payment_method', 'off_session', 'confirm', 'description'] as const),
      ...(['metadata', 'expand'] as const),
    ),
    run: makeIntent,
  },
  {
    method: 'GET',
    path: /^\/v1\/payment_intents$/,
    takes: params<Stripe.PaymentIntentListParams>()('customer', 'limit', 'starting_after'),
    run: (account, _id, fields) =>
      list(account.all<Intent>('payment_intent', ({ customer }) => customer === text(fields.customer))),
  },
  one(/^\/v1\/payment_intents\/(\w+)$/),
  one(/^\/v1\/payment_methods\/(\w+)$/),
  { method: 'POST', path: /^\/v1\/payment_methods\/(\w+)\/detach$/, takes: [], run: detach },
  {
    method: 'POST',
    path: /^\/v1\/refunds$/,
    takes: params<Stripe.RefundCreateParams>()('payment_intent', 'amount', 'metadata'),
    run: (account, _id, fields) =>
      account.refund(text(fields.payment_intent) ?? '', whole(fields, 'amount'), metadataOf(fields)),
  },
  {
    method: 'GET',
    path: /^\/v1\/refunds$/,
    takes: params<Stripe.RefundListParams>()('payment_intent', 'limit'),
    run: (account, _id, fields) => list(account.all<Refund>('refund', ofPayment(fields))),
  },
  {
    method: 'GET',
    path: /^\/v1\/disputes$/,
    takes: params<Stripe.DisputeListParams>()('payment_intent', 'limit'),
    run: (account, _id, fields) => list(account.all<Dispute>('dispute', ofPayment(fields))),
  },
  {
    method: 'POST',
    path: /^\/v1\/invoices\/(\w+)\/void$/,
    takes: [],
    run: (account, id) => account.voidInvoice(id),
  },
  one(/^\/v1\/subscriptions\/(\w+)$/),
  {
    method: 'POST',
    path: /^\/v1\/subscriptions\/(\w+)$/,
    takes: params<Stripe.SubscriptionUpdateParams>()('cancel_at_period_end'),
    run: changeSubscription,
  },
  {
    method: 'DELETE',
    path: /^\/v1\/subscriptions\/(\w+)$/,
    takes: params<Stripe.SubscriptionCancelParams>()('prorate'),
    run: cancelNow,
  },
];
