// Context of one page view: the principal, the parameters of the address, and calls of capabilities as the visitor. The calls are recorded: the
// page lists them at its foot, so that everything it shows can be reproduced by pasting a command.
import type { Static, TSchema } from 'typebox';
import type { Principal } from '../../core/callers/principal.ts';
import type { ModuleLevels } from '../../core/callers/scopes.ts';
import type { Html } from '../../lib/html.ts';
import type { Problem } from '../../problems/problem.ts';
import type { EventWords } from '../event-kind.ts';

export type Input = Readonly<Record<string, unknown>>;

/** What a page needs of a capability's record: its id, and the schema that types its answer, which one that is derived has by its type only. */
export interface Callable<Out extends TSchema = TSchema> {
  readonly id: string;
  readonly output?: Out;
}

/** `data` of a capability's answer. */
export type DataOf<Called extends Callable> = Called extends Callable<infer Out> ? Static<Out> : never;

/** An entry of a capability that lists. */
export type ItemOf<Called extends Callable> =
  DataOf<Called> extends { readonly items: readonly (infer Item)[] } ? Item : never;

/** What a call of the page answered. */
export type Read<Data> =
  | {
      readonly data: Data;
      /** The envelope as it came: what is opaque in it is shown as it was sent. */
      readonly text: string;
      readonly problem: null;
      readonly requestId: string;
    }
  | {
      readonly data: null;
      /** The envelope; null: the form was refused before its call. */
      readonly text: string | null;
      readonly problem: Problem;
      readonly requestId: string;
    };

/** What a form was refused with, and what it had sent, so that it is shown again as it was. */
export interface Refused {
  readonly act: string;
  readonly problem: Problem;
  readonly requestId: string;
  /** What the call answered; null: the form was refused before it. */
  readonly envelope: string | null;
  readonly form: URLSearchParams;
}

/** A form that changes as it is filled in, such as by a row more: nothing was sent yet. */
export interface Draft {
  readonly act: string;
  readonly form: URLSearchParams;
}

export interface Visit {
  /** Path parameters of the address. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** Path and query, as they were sent. */
  readonly url: string;
  /** This page as the browser knows it, without what the form did that led to it. */
  readonly here: string;
  readonly principal: Principal;
  /** Null: a key's session, or the operator's. */
  readonly personId: string | null;
  /** Of the session, for its forms. */
  readonly formToken: string;
  /** `zone`: IANA name of the zone that instants are told in, beside UTC. */
  readonly preferences: { readonly zone: string };
  /** Of the form that led here; null: none was refused. */
  readonly refused: Refused | null;
  /** A form to be shown as it stands; null: there is none. */
  readonly draft: Draft | null;
  readonly requestId: string;
  /** Of the database clock. */
  readonly nowMs: number;
  readonly baseUrl: string;
  /** Modules that keys may have, as they exist here, each with all its levels. */
  readonly modules: readonly ModuleLevels[];
  /** Types of events that webhooks may subscribe to. */
  readonly eventTypes: readonly string[];
  /** What the console says of events of a type; undefined: nothing. */
  eventWords(type: string): EventWords | undefined;
  /** What the capability does, in a sentence; null: there is none of that id. */
  summaryOf(id: string): string | null;
  /** A path of the console, as the browser knows it: `/queues/jobs`. */
  path(below: string): string;
  /** Any path of the service, as the browser knows it. */
  elsewhere(path: string): string;
  /** Whether the visitor may call the capability, as far as scopes say. False for one that this deployment does not have. */
  may(capability: Pick<Callable, 'id'>): boolean;
  /** Calls the capability and keeps the call for the foot of the page. A failure is an answer: it belongs into the panel that asked. */
  call<Out extends TSchema>(capability: Callable<Out>, input?: Input): Promise<Read<Static<Out>>>;
  /** What the page cannot be shown without. Throws the Problem of a failure. */
  need<Out extends TSchema>(capability: Callable<Out>, input?: Input): Promise<Static<Out>>;
  /** The call of a form that only asked, for the foot of the page with its answer. Never one with a secret in its input or answer. */
  tell(capability: Pick<Callable, 'id'>, input: Input): void;
  /** The call as a shell command. */
  curl(capability: Pick<Callable, 'id'>, input: Input): string;
  /** Calls, one after the other, by curl, in TypeScript and in Python: for `codeBlock`. */
  samples(calls: readonly (readonly [Pick<Callable, 'id'>, Input])[]): readonly CodeSample[];
  /** What of all modules fails now, a line each; `limits`: what was not looked at. */
  failures(): Promise<Failures>;
  /** How many calls wait for a person, by the path of the entry of the navigation. A page that asks has it told there at once. */
  waiting(): Promise<ReadonlyMap<string, number>>;
  /** People, sessions and ways to sign in: no key may touch them, so no capability tells them. `below`: of the page that shows them; `localTime`: an instant as the reader has it. */
  personSections(below: string, localTime: (instant: string) => string): Promise<PersonSections>;
}

export interface CodeSample {
  /** `bash`, `ts` or `python`. */
  readonly language: string;
  readonly text: string;
}

export interface Failures {
  readonly rows: readonly Html[];
  /** How many things fail, as far as was looked. */
  readonly count: number;
  readonly limits: readonly string[];
}

/** Each with its heading; empty for what the session does not have: a key's has none of them. */
export interface PersonSections {
  readonly switcher: Html;
  readonly identities: Html;
  readonly devices: Html;
  readonly people: Html;
}
