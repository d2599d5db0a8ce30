// Messages between a process that wants something rendered and one that renders: one connection for each order.

export interface RenderOrder<Request = unknown> {
  readonly kind: 'order';
  /** What renders it, by the name that `Rendering.serve` was given. */
  readonly name: string;
  readonly accountId: string;
  readonly request: Request;
}

/** What the process that asks says. */
export type Told =
  | RenderOrder
  | { readonly kind: 'reply'; readonly id: number; readonly reply: unknown }
  | { readonly kind: 'refused'; readonly id: number; readonly message: string };

/** What the process that renders says. */
export type Said =
  | { readonly kind: 'ask'; readonly id: number; readonly question: unknown }
  | { readonly kind: 'done'; readonly answer: unknown }
  /** Too much waits there. */
  | { readonly kind: 'full'; readonly code: FullCode }
  | { readonly kind: 'failed'; readonly message: string };

export const FULL_CODES = ['CONCURRENCY_LIMITED', 'OVERLOADED'] as const;
export type FullCode = (typeof FULL_CODES)[number];

/** Renders one request. `ask`: what needs the outside world, which whoever asked for the work reaches. */
export type RenderWork<Request, Answer, Question = never, Reply = never> = (
  order: RenderWish<Request>,
  ask: (question: Question) => Promise<Reply>,
) => Promise<Answer>;

export interface RenderWish<Request> {
  readonly accountId: string;
  readonly request: Request;
  readonly signal: AbortSignal | null;
}
