// What the queue model is made of and asked with.

export interface ModelSettings {
  retentionDays: number;
  visibility: number;
  delay: number;
  priority: boolean;
  maxReceive: number;
  dlq: string | null;
}

export interface ModelMessage {
  /** Publish order. */
  readonly n: number;
  readonly publishedMs: number;
  readonly priority: number;
  readonly group: string;
  readonly dedup: string | undefined;
  queue: string;
  source: string | null;
  band: number;
  /** available_at, or the end of the lease. */
  visibleMs: number;
  leased: boolean;
  /** Number of its latest delivery; receipts name it. */
  delivery: number;
  count: number;
  base: number;
  retainMs: number;
  reason: string | null;
}

/** A message as it was when it was delivered. */
export interface Delivered extends ModelMessage {
  readonly availableMs: number;
  readonly leaseEndMs: number;
}

/** What ack, nack and extend name: a message, by the receipt of a delivery or (null) by its id. */
export interface Ref {
  readonly n: number;
  readonly delivery: number | null;
}

export interface NewModelMessage {
  readonly priority?: number;
  readonly delay?: number;
  readonly group?: string;
  readonly dedup?: string;
}

export interface Nack {
  readonly delay: number;
  readonly requeue: boolean;
  readonly reason: string | undefined;
}

export interface Nacked {
  readonly status: 'available' | 'dlq' | 'deleted';
  readonly count: number;
  readonly availableMs: number;
}
