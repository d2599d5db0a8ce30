// Interface of local delivery, as sending uses it.

/** Mail for inboxes of this service. */
export interface LocalDelivery {
  /** By address, in lower case. */
  inboxesOf(
    addresses: readonly string[],
  ): Promise<ReadonlyMap<string, { readonly accountId: string; readonly inboxId: string }>>;
  /** Keeps a mail in an inbox, once however often it is called. */
  deliver(mail: LocalMail): Promise<LocalOutcome>;
}

export interface LocalMail {
  readonly accountId: string;
  readonly inboxId: string;
  readonly address: string;
  readonly source: Buffer;
  readonly envelopeFrom: string;
  /** Account that sends it. */
  readonly senderId: string;
}

export type LocalOutcome =
  | { readonly kind: 'delivered' }
  | { readonly kind: 'deferred' | 'refused'; readonly code: string; readonly detail: string };
