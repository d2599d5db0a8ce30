// The six test cards of the sandbox. There is no number to type: the payer picks one.

export interface TestCard {
  readonly id: string;
  /** What the payer reads. */
  readonly label: string;
  readonly last4: string;
  /** On the page. `authenticate`: asks the payer first; `wait`: pays after 30 s. */
  readonly outcome: 'pay' | 'decline' | 'authenticate' | 'review' | 'wait';
  /** When it is charged later, without its owner. */
  readonly later: 'pay' | 'review' | 'wait' | { readonly failureCode: string };
}

export const testCards: readonly TestCard[] = [
  { id: 'pays', label: 'Pays', last4: '0001', outcome: 'pay', later: 'pay' },
  {
    id: 'declines',
    label: 'Is declined',
    last4: '0002',
    outcome: 'decline',
    later: { failureCode: 'card_declined' },
  },
  {
    id: 'authenticates',
    label: 'Asks for authentication',
    last4: '0003',
    outcome: 'authenticate',
    later: { failureCode: 'authentication_required' },
  },
  { id: 'reviewed', label: 'Pays, and is reviewed', last4: '0004', outcome: 'review', later: 'review' },
  { id: 'slow', label: 'Pays after 30 seconds', last4: '0005', outcome: 'wait', later: 'wait' },
  {
    id: 'declines_later',
    label: 'Pays now, is declined when charged later',
    last4: '0006',
    outcome: 'pay',
    later: { failureCode: 'card_declined' },
  },
];

/** How long a payment with the slow card takes. */
export const slowMs = 30_000;

export function testCard(id: string | null): TestCard | undefined {
  return testCards.find((card) => card.id === id);
}
