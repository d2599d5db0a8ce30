// Messages to and from the screenshot thread. The thread fetches nothing: the page comes with the task, and the service answers the page's
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

export interface ShotTask extends ShotWish {
  readonly page: SiteAnswer;
  readonly chromiumPath: string;
  readonly folder: string;
  readonly memoryMb: number;
}

export interface ShotQuestion {
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

export interface ShotRefusal {
  readonly kind: 'refused';
  readonly rule: 'unsupported_type' | 'too_complex' | 'not_shown';
  readonly message: string;
}

export type ShotAnswer = Shot | ShotRefusal | { readonly kind: 'not_started'; readonly message: string };
/** Null: refused, failed, or more than a page may have. */
export type AskSite = (question: ShotQuestion) => Promise<SiteAnswer | null>;
