// A page of a module for anybody, who needs no key: the token in its address is all that it asks for. The module makes its content; the frame,
// the headers, the rate by network, the host and the origin of forms are seen to by surfaces/pages.
import type { Html } from '../lib/html.ts';

/** What a page is asked with. */
export interface PageRequest {
  readonly isForm: boolean;
  /** Path parameters, decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** Of a form, which a page of this service has sent; else empty. */
  readonly form: URLSearchParams;
  /** Of a cookie that a page has set; null: there is none. */
  cookie(name: string): string | null;
}

export interface PageAnswer {
  readonly status: number;
  readonly title: string;
  /** Below the title. */
  readonly content: Html;
  /** For all pages of the service, and no script; `lifeMs` 0 takes it away. */
  readonly cookies?: readonly { readonly name: string; readonly value: string; readonly lifeMs: number }[];
  /** Where the browser goes on to by itself. A form may not lead to another origin, a page may. */
  readonly onward?: string;
}

export interface PublicPage<State = unknown> {
  /** In metrics and the log: `vault.connect`. */
  readonly name: string;
  /** POST: it has forms. */
  readonly methods: readonly ('GET' | 'POST')[];
  /** From the root, with `{name}` parameters. */
  readonly path: string;
  /** Throws a Problem to have its message shown. */
  answer(request: PageRequest, state: State): Promise<PageAnswer>;
}
