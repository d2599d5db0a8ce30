// Type of tenant fixtures, which prove tenant isolation: how to create one of each resource, and how calls of a module name resources. Each
// module has one as tenants.fixture.ts. The contract tests loop over all of them; the service loads none.
import type { Database } from '../db/database.ts';

export type Input = Readonly<Record<string, unknown>>;

/** Kind of name to name; each module has kinds of its own. */
export type Names = Readonly<Record<string, string>>;

/** One account, as a test acts for it. */
export interface Tenant {
  readonly accountId: string;
  /** Calls a capability and answers its `data`; a refusal fails the test. */
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  act(capability: string, input: Input): Promise<any>;
  /** A person leaves a card of the sandbox at a page for payment methods. */
  leaveCard(checkoutUrl: string): Promise<void>;
  /** For what only the background makes. */
  readonly db: Database;
}

export interface TenantFixture {
  /** The capability whose first example gives an empty account something; absent: the module keeps nothing. */
  readonly first?: string;
  /** A name of each kind that nobody has. The lengths agree with those of `fill`, as far as a name shows its length. */
  readonly nobody: Names;
  /** Gives the account one of everything, and every list two entries. Answers its names, of the same kinds. */
  fill(tenant: Tenant): Promise<Names>;
  /** Gives another account what lists are lists of. Answers those names. */
  fillOther(tenant: Tenant): Promise<Names>;
  /**
   * By capability, every way in which a call can name something; empty for one that names nothing. Absent: fields that are called as the kinds
   * are, beside the other required fields of its first example; nothing where it takes no text at all. What is neither must be said.
   */
  readonly aims?: Readonly<Record<string, readonly ((names: Names) => Input)[]>>;
  /** By capability that takes a cursor, what the list is asked with. Absent: its required fields, where they are called as the kinds are. */
  readonly lists?: Readonly<Record<string, (names: Names) => Input>>;
  /** Calls that `fill` has made with the idempotency key `shared`, as the other account makes them with its own names. */
  readonly keyed?: readonly (readonly [capability: string, input: Input])[];
}
