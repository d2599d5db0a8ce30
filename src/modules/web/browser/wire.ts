// Messages to and from the thread of a browser. The thread fetches nothing: the page comes with the task, and the service answers the page's
// requests.

export const SHOT_FORMATS = ['png', 'jpeg', 'webp'] as const;
export type ShotFormat = (typeof SHOT_FORMATS)[number];

/** What a site answered, as the browser is told. */
export interface SiteAnswer {
  /** After redirects. */
  readonly url: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Uint8Array;
}

export interface ShotWish {
  readonly width: number;
  readonly height: number;
  /** The page as long as it is, up to a bound. */
  readonly isFullPage: boolean;
  readonly format: ShotFormat;
  /** 1-100, of jpeg and webp. */
  readonly quality: number;
  /** After the page has loaded. */
  readonly waitMs: number;
  readonly isDark: boolean;
}

/** The HTML of the page once its scripts have drawn it. */
export interface DrawWish {
  /** A selector of an element to wait for; null: until the page asks for nothing more. */
  readonly waitFor: string | null;
  /** UTF-8 bytes of the HTML; more are cut. */
  readonly bytesMax: number;
}

export type BrowserWish = ({ readonly make: 'shot' } & ShotWish) | ({ readonly make: 'html' } & DrawWish);

export interface PageWish {
  readonly wish: BrowserWish;
  readonly page: SiteAnswer;
}

/** With what the process knows that has the browser. */
export interface BrowserTask extends PageWish {
  readonly chromiumPath: string;
  readonly folder: string;
  readonly memoryMb: number;
}

export interface PageQuestion {
  readonly url: string;
  /** A page that the page leads to, and not what stands in it. */
  readonly isPage: boolean;
  /** Who asks, where the browser says so. */
  readonly origin: string | null;
}

export interface Shot {
  readonly kind: 'shot';
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly url: string;
  readonly status: number;
  readonly title: string | null;
  readonly width: number;
  readonly height: number;
}

export interface Drawn {
  readonly kind: 'drawn';
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly url: string;
  readonly status: number;
  readonly truncated: boolean;
  /** Whether the element that was waited for came; true also when none was. */
  readonly hasCome: boolean;
}

export interface BrowserRefusal {
  readonly kind: 'refused';
  readonly rule: 'unsupported_type' | 'too_complex' | 'not_shown';
  readonly message: string;
}

export type BrowserAnswer = Shot | Drawn | BrowserRefusal | { readonly kind: 'not_started'; readonly message: string };
/** Null: refused, failed, or more than a page may have. */
export type AskSite = (question: PageQuestion) => Promise<SiteAnswer | null>;
