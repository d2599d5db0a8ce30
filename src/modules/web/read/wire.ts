// Messages to and from the page reader thread. The thread fetches nothing: the bytes come with the task.

export const PAGE_FORMATS = ['markdown', 'text', 'html'] as const;
export type PageFormat = (typeof PAGE_FORMATS)[number];

export interface ReadTask {
  readonly bytes: Uint8Array;
  /** The header of the answer, with its charset. */
  readonly contentType: string | null;
  /** Where the bytes came from, after redirects: links are relative to it. */
  readonly url: string;
  readonly format: PageFormat;
  /** Only the main content: without navigation, header, footer and the like. */
  readonly mainContent: boolean;
  /** Whether the page's links are wanted too. */
  readonly links: boolean;
  /** A browser has drawn it; absent: as the site sent it. */
  readonly isDrawn?: boolean;
  /** UTF-8 bytes of `content`; more are cut, and `truncated` says so. */
  readonly bytesMax: number;
}

export interface ReadPage {
  readonly kind: 'read';
  readonly title: string | null;
  readonly byline: string | null;
  /** BCP 47, as the page says. */
  readonly language: string | null;
  readonly description: string | null;
  readonly content: string;
  /** Absolute http(s) addresses in the page's order, without fragments. */
  readonly links: readonly string[];
  readonly truncated: boolean;
  /** Its text is empty beside its scripts: they draw it. */
  readonly isShell: boolean;
}

export interface ReadRefusal {
  readonly kind: 'refused';
  readonly rule: 'unsupported_type' | 'too_complex' | 'encrypted' | 'not_a_pdf';
  readonly message: string;
}

export type ReadAnswer = ReadPage | ReadRefusal;
