// A page of the documentation as blocks of text. html-page.ts and markdown-page.ts write it: people read the one, agents the other.

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

export type Block =
  | { readonly kind: 'heading'; readonly level: 1 | 2 | 3; readonly text: string; readonly id?: string }
  /** Where the page belongs. */
  | { readonly kind: 'up'; readonly link: PageLink }
  | { readonly kind: 'route'; readonly text: string }
  /** Paragraphs, with an empty line between them. */
  | { readonly kind: 'prose'; readonly text: string }
  | { readonly kind: 'terms'; readonly rows: readonly (readonly [term: string, meaning: string])[] }
  | { readonly kind: 'code'; readonly text: string; readonly language: 'sh' | 'json' }
  | { readonly kind: 'table'; readonly heads: readonly string[]; readonly rows: readonly (readonly Cell[])[] }
  | { readonly kind: 'links'; readonly links: readonly PageLink[] };

export interface DocsPage {
  readonly title: string;
  readonly blocks: readonly Block[];
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
