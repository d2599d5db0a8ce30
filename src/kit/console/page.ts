// A page of the console: an address below /console, what it shows, and what its forms do. It shows and does nothing but what calls of
// capabilities as its visitor answer and do, so every page obeys the API's scopes, limits and validation.
import type { TSchema } from 'typebox';
import type { Html } from '../../lib/html.ts';
import type { JsonText } from '../../lib/json-text.ts';
import type { Callable, DataOf, Failures, Input, Visit } from './visit.ts';

/** What a module brings to the console. */
export interface ModuleConsole {
  readonly pages: readonly ConsolePage[];
  /** What of it fails now, for the first page, and counted at the entry of the navigation at `path`. */
  readonly failing?: { readonly path: string; of(visit: Visit): Promise<Failures> };
  /** How many calls of it wait for a person, told at the entry of the navigation at `path`. */
  readonly waiting?: { readonly path: string; of(visit: Visit): Promise<number> };
}

export interface ConsolePage {
  /** In metrics and the log: `console.<name>`. */
  readonly name: string;
  /** Below /console, with `{name}` parameters; empty for the first page. */
  readonly path: string;
  /** Capability that its visitors must be allowed to call: without it the page is 403 and says which scope is missing. */
  readonly needs: Pick<Callable, 'id'>;
  /** Its place in the navigation; absent: other pages lead to it. */
  readonly nav?: NavEntry;
  /** It is fetched again whenever something of the account has moved. */
  readonly isLive?: boolean;
  show(visit: Visit): Promise<View>;
  /** What it shows as a file for spreadsheets (`?as=csv`). */
  csv?(visit: Visit): Promise<string>;
  /** What it shows as records, one JSON object a line (`?as=jsonl`). */
  jsonl?(visit: Visit): Promise<string>;
  /** Acts that the palette offers, such as "New queue": pages, each for who may. */
  readonly actions?: readonly PageAction[];
  /** What its forms do, by the `act` that they send. */
  readonly acts?: Readonly<Record<string, Act>>;
}

export interface PageAction {
  readonly label: string;
  /** Below /console. */
  readonly path: string;
  readonly needs: Pick<Callable, 'id'>;
}

/** Parts of the navigation, in their order. */
export const navGroups = ['start', 'build', 'observe', 'reach', 'make', 'settings', 'operator'] as const;

export interface NavEntry {
  readonly label: string;
  /** Typed after `g` it leads here. */
  readonly key: string;
  readonly group: (typeof navGroups)[number];
}

export interface View {
  readonly title: string;
  readonly content: Html;
  /** 200 when absent. */
  readonly status?: number;
  /** It has figures that are drawn. */
  readonly hasPlots?: boolean;
  /** It has a conversation that its tab keeps. */
  readonly hasPlayground?: boolean;
  /** It has a challenge that its tab solves. */
  readonly hasChallenge?: boolean;
  /** It shows mail of strangers in frames without scripts, whose styles stand in the mail. */
  readonly showsMail?: boolean;
  /** Of a live page: it is also fetched again after so long, because something is under way that no tick tells. */
  readonly againSeconds?: number;
}

/** A write by a form. It is called once however often the form is sent: each form carries an idempotency key. */
export interface Act<Called extends Pick<Callable, 'id'> = Callable> {
  readonly capability: Called;
  /**
   * The capability's input. Several: one call each, in their order; the first that fails ends it, and those before it are done. Throws a
   * Problem for what the form alone shows to be wrong.
   */
  input(form: URLSearchParams, visit: Visit): ActInput | Promise<ActInput>;
  /**
   * The form as the page shows it again in place of the call, such as with a row more; null: it is to be sent.
   */
  redraw?(form: URLSearchParams, visit: Visit): URLSearchParams | null;
  /** Told on the page that follows. */
  readonly done: string;
  /** Path below /console of the page that follows; absent: the page of the form. */
  next?(data: AnswerOf<Called>, visit: Visit): string;
  /** A page in answer to the form itself, for what is shown once, such as a secret, or leads to another site. */
  answerView?(data: AnswerOf<Called>, visit: Visit, form: URLSearchParams, envelope: string): View;
}

type ActInput = Input | JsonText | readonly Input[];

type AnswerOf<Called> = Called extends Callable ? DataOf<Called> : unknown;

/** Types the answer in `next` and `answerView` by the capability's schema. */
export function actOf<Out extends TSchema>(made: Act<Callable<Out>>): Act {
  return made;
}
