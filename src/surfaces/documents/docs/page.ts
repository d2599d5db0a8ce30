// Model of a documentation page: a list of blocks. blocks-html.ts renders it for people, markdown-page.ts for agents.
import type { Html } from '../../../lib/html.ts';

/** A way to another page of the documentation. */
export interface PageLink {
  readonly text: string;
  /** From the root of the service: `/docs/errors/NOT_FOUND`. */
  readonly to: string;
  /** The text is a name of the wire. */
  readonly isCode?: boolean;
}

/** In a string, what stands between backticks is code. */
export type Cell = string | PageLink;

/** One of a list that people look up: a field, a capability, an error code. */
export interface Entry {
  /** A string is a name of the wire. */
  readonly name: Cell;
  /** In a few words each: type, price, status. */
  readonly facts: readonly string[];
  readonly text: string;
}

/** A program, or a part of one. */
export interface Sample {
  readonly language: 'bash' | 'sh' | 'ts' | 'python' | 'json';
  readonly text: string;
}

export type Block =
  | { readonly kind: 'heading'; readonly level: 1 | 2 | 3; readonly text: string; readonly id?: string }
  /** Where the page belongs. */
  | { readonly kind: 'up'; readonly link: PageLink }
  | { readonly kind: 'route'; readonly text: string }
  /** Paragraphs, with an empty line between them. */
  | { readonly kind: 'prose'; readonly text: string }
  | { readonly kind: 'terms'; readonly rows: readonly (readonly [term: string, meaning: Cell])[] }
  | ({ readonly kind: 'code' } & Sample)
  /** The same in several languages. In markdown the first stands for all. */
  | { readonly kind: 'samples'; readonly samples: readonly Sample[] }
  | { readonly kind: 'entries'; readonly rows: readonly Entry[] }
  | { readonly kind: 'links'; readonly links: readonly PageLink[] }
  /** Where people call it with their own account. */
  | { readonly kind: 'try'; readonly path: string; readonly text: string }
  /** Written by hand. */
  | { readonly kind: 'written'; readonly html: (root: string) => Html; readonly markdown: (baseUrl: string) => string };

export interface DocsPage {
  readonly title: string;
  readonly blocks: readonly Block[];
  /** The same with less, each shorter than the one before: in markdown the first that an agent has room for stands for all. */
  readonly shorter?: readonly (() => readonly Block[])[];
}

export function h1(text: string): Block {
  return { kind: 'heading', level: 1, text };
}

export function h2(text: string, id?: string): Block {
  return { kind: 'heading', level: 2, text, ...(id === undefined ? {} : { id }) };
}

export function prose(text: string): Block {
  return { kind: 'prose', text };
}

export function code(text: string): string {
  return `\`${text}\``;
}
