// Messages to and from a PDF thread: its tasks, its answers, and its requests to the outside. Bytes are transferred without a copy.
import type { PageFormat } from '../page.ts';

export interface Asset {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** Plain text with {page} and {pages}, or HTML whose classes `pageNumber` and `totalPages` become numbers. */
export type MarginLine = { readonly text: string } | { readonly html: string };

export interface CreateWish {
  readonly kind: 'create';
  readonly type: 'html' | 'markdown' | 'text';
  readonly content: string;
  readonly page: PageFormat;
  /** Above and below each page. */
  readonly header: MarginLine | null;
  readonly footer: MarginLine | null;
  /** Files that the content names by their names alone; none of another kind of name is looked for among them. */
  readonly assets: readonly Asset[];
  /** Only these pages, as ranges; null: all. */
  readonly onlyPages: string | null;
  /** Of the browser: 1 is as it is. */
  readonly scale: number;
  readonly title: string | null;
  readonly engine: 'auto' | 'document' | 'browser';
  readonly pagesMax: number;
}

/** What the process knows that works on it. */
interface Place {
  /** Of a Chromium; null: there is none. */
  readonly chromiumPath: string | null;
  /** For what a browser writes, removed afterwards; null: the task needs no browser. */
  readonly browserFolder: string | null;
  readonly browserMb: number;
  /** Further fonts; null: none. */
  readonly fontsFolder: string | null;
}

export type CreateTask = CreateWish & Place;

/** A PDF for each range, for each page of them, one for all, or (a number) for so many pages each, whatever the ranges. */
export type Cut = 'ranges' | 'pages' | 'unified' | number;

interface OfSource {
  readonly source: Uint8Array;
  readonly pagesMax: number;
}

export type FieldValue = string | boolean | number | readonly string[];

export interface FillWish extends OfSource {
  readonly kind: 'fill';
  readonly fields: Readonly<Record<string, FieldValue>>;
  readonly flatten: boolean;
}

export type FillTask = FillWish & Pick<Place, 'fontsFolder'>;

type TaskOfSources =
  | { readonly kind: 'merge'; readonly sources: readonly Uint8Array[]; readonly pagesMax: number }
  | ({ readonly kind: 'split'; readonly ranges: string; readonly cut: Cut } & OfSource)
  | ({ readonly kind: 'info' } & OfSource)
  | ({ readonly kind: 'text'; readonly pages: string | null } & OfSource);

/** What is asked for, and the task that a thread gets for it. */
export type EngineWish = CreateWish | FillWish | TaskOfSources;
export type EngineTask = CreateTask | FillTask | TaskOfSources;

export interface MadePdf {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly pages: number;
}

export interface FormField {
  readonly name: string;
  readonly type: 'text' | 'checkbox' | 'choice' | 'radio' | 'button' | 'signature';
  readonly value: string | boolean | readonly string[] | null;
  /** Of choices and radio buttons. */
  readonly options: readonly string[] | null;
}

export interface PdfInfo {
  readonly pages: number;
  /** Of the first 500 pages, in points. */
  readonly page_sizes: readonly { readonly width: number; readonly height: number }[];
  readonly encrypted: boolean;
  readonly title: string | null;
  readonly author: string | null;
  readonly subject: string | null;
  readonly creator: string | null;
  readonly producer: string | null;
  readonly created_at: string | null;
  readonly modified_at: string | null;
  readonly fields: readonly FormField[];
}

export interface PageText {
  readonly page: number;
  readonly text: string;
}

export interface Refusal {
  readonly kind: 'refused';
  /** The field at fault, without the index of a source. */
  readonly field: string;
  /** Of several sources, the one at fault. */
  readonly index: number | null;
  readonly rule: string;
  readonly message: string;
}

export type EngineAnswer =
  | {
      readonly kind: 'made';
      readonly files: readonly MadePdf[];
      readonly engine: 'document' | 'browser' | null;
      readonly warnings: readonly string[];
    }
  | { readonly kind: 'info'; readonly info: PdfInfo }
  | { readonly kind: 'text'; readonly pages: readonly PageText[] }
  | Refusal;

/** What a thread has fetched for it: through the guard of the service. */
export interface EngineQuestion {
  readonly url: string;
}
/** Null: it was refused, failed, or is more than a document may have; `message` says why. */
export interface EngineReply {
  readonly bytes: Uint8Array | null;
  readonly contentType: string | null;
  readonly status: number;
  readonly message: string;
}

export type Ask = (question: EngineQuestion) => Promise<EngineReply>;
