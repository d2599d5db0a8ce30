// Writes of the modules account and operator in words, for the audit log and the request log: "Created key shop-api". All stand here; a test
// asks for the words of each such capability.

/** What the words may say, beside the input: names by id, of keys, people, webhooks and accounts. */
export type Names = ReadonlyMap<string, string>;

type Input = Readonly<Record<string, unknown>>;

interface ActWords {
  /** `Created key` */
  readonly done: string;
  /** `create key`: of a call that was refused. */
  readonly tried: string;
  /** What it was done to, and with what; empty: the words say all. */
  of?(input: Input, nameOf: (id: unknown) => string): string;
}

const idFields: readonly string[] = [
  ...['key_id', 'webhook_id', 'receiver_id', 'delivery_id', 'account_id', 'topup_id', 'payment_method_id'],
];
const PREFIXED_ID = /^[a-z]+(_[a-z]+)?_[0-9A-Za-z]+$/;

const act = (done: string, tried: string, of?: ActWords['of']): ActWords =>
  of === undefined ? { done, tried } : { done, tried, of };
const nameIn =
  (field: string): NonNullable<ActWords['of']> =>
  (input, nameOf) =>
    nameOf(input[field]);
const text = (value: unknown) => (typeof value === 'string' || typeof value === 'number' ? String(value) : '');
const usd = (value: unknown) => (typeof value === 'number' ? `$${value.toFixed(2)}` : '');
const list = (fields: readonly string[]) => (fields.length === 0 ? '' : `: ${fields.join(', ').replaceAll('_', ' ')}`);
/** What an update changed, beside what it names. */
const changesIn = (input: Input, ...known: readonly string[]) =>
  list(
    Object.keys(input)
      .filter((field) => !idFields.includes(field) && !known.includes(field))
      .map((field) => field.replace(/_usd$/, '')),
  );

const keyWords = {
  'account.keys.create': act('Created key', 'create a key', ({ name }) => text(name)),
  'account.keys.revoke': act('Revoked key', 'revoke key', nameIn('key_id')),
  'account.keys.rotate': act('Rotated the secret of key', 'rotate the secret of key', nameIn('key_id')),
  'account.keys.update': act(
    'Changed key',
    'change key',
    (input, nameOf) => `${nameOf(input.key_id)}${changesIn(input, 'spend_cap_period')}`,
  ),
  'account.keys.suspected_compromise': act('Reported a leak of key', 'report a leak of key', nameIn('key_id')),
};

const approvalWords = {
  'account.approvals.rule.set': act('Set approval rule', 'set approval rule', ({ name }) => text(name)),
  'account.approvals.rule.delete': act('Deleted approval rule', 'delete approval rule', ({ name }) => text(name)),
  'account.approvals.decide': act('Decided on a call that waited', 'decide on a call that waited', ({ decision }) =>
    decision === 'approve' ? '(approved)' : decision === 'deny' ? '(denied)' : '',
  ),
};

const webhookWords = {
  'account.webhooks.register': act('Registered webhook', 'register webhook', ({ url }) => text(url)),
  'account.webhooks.update': act(
    'Changed webhook',
    'change webhook',
    (input, nameOf) => `${nameOf(input.webhook_id)}${changesIn(input)}`,
  ),
  'account.webhooks.delete': act('Deleted webhook', 'delete webhook', nameIn('webhook_id')),
  'account.webhooks.test': act('Sent a test event to webhook', 'send a test event to webhook', nameIn('webhook_id')),
  'account.webhooks.redeliver': act('Redelivered event', 'redeliver event', ({ delivery_id: id }) => text(id)),
  'account.webhooks.receive.create': act('Created webhook receiver', 'create webhook receiver', ({ name }) =>
    text(name),
  ),
  'account.webhooks.receive.update': act(
    'Changed webhook receiver',
    'change webhook receiver',
    (input, nameOf) => `${nameOf(input.receiver_id)}${changesIn(input)}`,
  ),
  'account.webhooks.receive.delete': act('Deleted webhook receiver', 'delete webhook receiver', nameIn('receiver_id')),
  'account.webhooks.receive.test': act('Sent a sample to', 'send a sample to', nameIn('receiver_id')),
  'account.webhooks.receive.replay': act('Replayed a request of', 'replay a request of', nameIn('receiver_id')),
  'account.webhooks.default_secret.rotate': act(
    'Replaced the signing secret of jobs',
    'replace the signing secret of jobs',
  ),
};

const moneyWords = {
  'account.topup': act('Started a top-up of', 'start a top-up of', ({ amount_usd: a, amount }) => usd(a ?? amount)),
  'account.payment_method.attach': act('Started to add a card', 'add a card'),
  'account.payment_method.set_default': act('Changed the default card', 'change the default card'),
  'account.payment_method.delete': act('Removed a card', 'remove a card'),
  'account.autorecharge.configure': act('Changed auto-recharge', 'change auto-recharge', ({ enabled }) =>
    enabled === undefined ? '' : enabled === true ? 'on' : 'off',
  ),
  'account.budget.set': act('Set the budget', 'set the budget', ({ hard_cap_usd: cap, period }) =>
    cap === null ? 'without a cap' : typeof cap === 'number' ? `${usd(cap)} ${text(period)}` : '',
  ),
  'account.tier.upgrade': act('Started an upgrade to', 'upgrade to', ({ target }) => text(target)),
  'account.subscription.cancel': act('Cancelled the subscription', 'cancel the subscription'),
  'account.subscription.resume': act('Kept the subscription', 'keep the subscription'),
};

/** People are changed on pages, by no capability. */
const peopleWords = {
  'account.people.invite': act('Invited', 'invite', ({ email, role }) => `${text(email)} as ${text(role)}`),
  'account.people.cancel_invitation': act('Cancelled the invitation of', 'cancel the invitation of', ({ email }) =>
    text(email),
  ),
  'account.people.remove': act('Removed', 'remove', ({ person }) => text(person)),
  'account.restore': act('Restored the account', 'restore the account'),
};

const accountWords = {
  'account.update': act('Changed the account', 'change the account', ({ name }) =>
    name === undefined ? '' : name === null ? 'no name' : `name ${text(name)}`,
  ),
  'account.delete': act('Deleted the account', 'delete the account'),
  'account.email.bind': act('Asked to confirm', 'confirm', ({ email }) => text(email)),
  'account.email.verify': act('Confirmed an email address', 'confirm an email address'),
  'account.requests.settings': act(
    'Changed what is recorded',
    'change what is recorded',
    ({ record_all_until: until }) =>
      until === null ? 'failed and slow calls' : until === undefined ? '' : 'all calls for a while',
  ),
  'account.routing.set': act('Changed the routing of', 'change the routing of', ({ capability }) => text(capability)),
};

const operatorWords = {
  'operator.accounts.update': act(
    'Changed account',
    'change account',
    (input, nameOf) => `${nameOf(input.account_id)}${changesIn(input)}`,
  ),
  'operator.credit.grant': act(
    'Granted',
    'grant',
    (input, nameOf) => `${usd(input.amount_usd)} to account ${nameOf(input.account_id)}`,
  ),
  'operator.kyc.set': act(
    'Set the verification of account',
    'set the verification of account',
    (input, nameOf) => `${nameOf(input.account_id)} to ${text(input.kyc_status)}`,
  ),
  'operator.topup.approve': act('Approved top-up', 'approve top-up', ({ topup_id: id }) => text(id)),
  'operator.topup.reject': act('Rejected top-up', 'reject top-up', ({ topup_id: id }) => text(id)),
  'operator.topup.refund': act('Refunded top-up', 'refund top-up', ({ topup_id: id }) => text(id)),
};

export const actWords: Readonly<Record<string, ActWords>> = {
  ...keyWords,
  ...approvalWords,
  ...webhookWords,
  ...moneyWords,
  ...peopleWords,
  ...accountWords,
  ...operatorWords,
};

interface LoggedAct {
  readonly capability: string;
  readonly status: number;
  readonly input: string | null;
  /** Of the request: its last part may be the id, which the input then lacks. */
  readonly path: string;
}

/** `Created key shop-api`; of a refused call `Tried to create a key: shop-api`. Null: the capability has no words. */
export function actText({ capability, status, input, path }: LoggedAct, names: Names): string | null {
  const words = Object.hasOwn(actWords, capability) ? actWords[capability] : undefined;
  if (words === undefined) return null;
  const of = words.of?.({ ...idsIn(path), ...inputOf(input) }, (id) => names.get(text(id)) ?? text(id)) ?? '';
  return `${status < 400 ? words.done : `Tried to ${words.tried}`} ${of}`.trim();
}

/** The id that a path ends with, under each name that it may have. */
function idsIn(path: string): Input {
  const last = path.slice(path.lastIndexOf('/') + 1);
  return PREFIXED_ID.test(last) ? Object.fromEntries(idFields.map((field) => [field, last])) : {};
}

/** Nothing of an input that is none, or that was cut. */
function inputOf(text: string | null): Input {
  try {
    const value: unknown = JSON.parse(text ?? '{}');
    return typeof value === 'object' && value !== null ? (value as Input) : {};
  } catch {
    return {};
  }
}
