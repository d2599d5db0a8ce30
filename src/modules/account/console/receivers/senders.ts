// The wizard: for each sender what it is verified by, what its form asks for, and the steps on its own site. What is not named here is set up as
// one of the last three.

export interface Sender {
  readonly name: string;
  readonly label: string;
  readonly scheme: string;
  readonly header?: string;
  readonly encoding?: string;
  /** Label of the secret that the sender makes; absent: one is made here. */
  readonly secret?: string;
  /** What to do there once the receiver exists. `Paste the URL` and `Paste the secret` say what goes where. */
  readonly steps: readonly string[];
}

export const senders: readonly Sender[] = [
  {
    name: 'github',
    label: 'GitHub',
    scheme: 'github',
    steps: [
      'Open Settings > Webhooks > Add webhook of the repository or organization.',
      'Paste the URL as Payload URL and choose the content type application/json.',
      'Paste the secret as Secret, choose the events, and save. GitHub sends a ping at once.',
    ],
  },
  {
    name: 'stripe',
    label: 'Stripe',
    scheme: 'stripe',
    secret: 'Signing secret of the endpoint (whsec_…)',
    steps: [
      'Open Developers > Webhooks > your endpoint.',
      'Edit its URL: paste the URL of this receiver.',
      'Send a test event, and look for it below Requests.',
    ],
  },
  {
    name: 'slack',
    label: 'Slack',
    scheme: 'slack',
    secret: 'Signing Secret of the app (Basic Information)',
    steps: [
      'Open your app > Event Subscriptions and enable events.',
      'Paste the URL as Request URL: Slack’s challenge is answered.',
      'Use the same URL for Interactivity and Slash Commands.',
    ],
  },
  {
    name: 'standard',
    label: 'Standard Webhooks',
    scheme: 'standard',
    steps: ['Paste the URL where the sender asks for its endpoint.', 'Paste the secret as its signing secret.'],
  },
  {
    name: 'shopify',
    label: 'Shopify',
    scheme: 'hmac',
    header: 'X-Shopify-Hmac-Sha256',
    encoding: 'base64',
    secret: 'Client secret of the app, or the key that Settings > Notifications shows',
    steps: ['Open Settings > Notifications > Webhooks.', 'Create a webhook with format JSON, and paste the URL.'],
  },
  {
    name: 'meta',
    label: 'Meta',
    scheme: 'hmac',
    header: 'X-Hub-Signature-256',
    encoding: 'hex',
    secret: 'App secret',
    steps: [
      'Open your app > Webhooks > Edit subscription.',
      'Paste the URL as Callback URL.',
      'Type the app secret as Verify token: the challenge is answered.',
    ],
  },
  {
    name: 'gitlab',
    label: 'GitLab',
    scheme: 'token',
    header: 'X-Gitlab-Token',
    steps: ['Open Settings > Webhooks > Add new webhook.', 'Paste the URL, and paste the secret as Secret token.'],
  },
  {
    name: 'hmac',
    label: 'Other: HMAC-SHA256',
    scheme: 'hmac',
    steps: ['Paste the URL where the sender asks for its endpoint.', 'Give it the secret, if it did not make its own.'],
  },
  {
    name: 'token',
    label: 'Other: token in a header',
    scheme: 'token',
    steps: ['Paste the URL where the sender asks for its endpoint.', 'Have it send the secret in the header.'],
  },
  {
    name: 'none',
    label: 'Other: unsigned',
    scheme: 'none',
    steps: ['Paste the URL where the sender asks for its endpoint. Who knows it can send.'],
  },
];

export function senderOf(name: string | null): Sender {
  return senders.find((sender) => sender.name === name) ?? (senders[0] as Sender);
}

/** The one that a receiver was set up as, by how it verifies. */
export function senderLike(scheme: string, header: string | null): Sender {
  const like = senders.find((each) => each.scheme === scheme && each.header?.toLowerCase() === (header ?? undefined));
  return like ?? senders.find(({ name }) => name === scheme) ?? senderOf(scheme);
}
