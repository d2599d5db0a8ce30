// Links of one recipient's copy: unsubscribe, open pixel, click redirect. Their tokens are MACed, so that nobody forges an unsubscription, and a
// link redirects only where a mail's link led.

import { SignedTokens } from '../../../core/secrets/signed-token.ts';
import type { Services } from '../../../kit/services.ts';
import type { MailContent } from '../messages/content.ts';
import type { MessageRow } from '../messages/row.ts';
import type { CopyLinks } from '../sending/compose.ts';

export const TRACKING_PATH = '/v1/email/t';

export type LinkKind = 'unsubscribe' | 'open' | 'click';

export interface LinkTarget {
  readonly accountId: string;
  readonly emailId: string;
  readonly number: number;
  /** Of a click. */
  readonly url: string | null;
}

/** An anchor's tag, and in it the quoted `href` that leads to the web. In two steps, each of which reads the text once, whatever is in it. */
const ANCHOR = /<a\s[^<>]{1,4000}>/gi;
const HREF = /(\shref\s{0,20}=\s{0,20})(["'])(https?:\/\/[^"'<>\s]{1,2000})\2/i;
const ENTITIES: Readonly<Record<string, string>> = { '&amp;': '&', '&#38;': '&', '&quot;': '"', '&#39;': "'" };

export class MailLinks {
  readonly #tokens: SignedTokens;
  readonly #base: string;

  constructor({ secrets, baseUrl }: Pick<Services, 'secrets' | 'baseUrl'>) {
    this.#tokens = new SignedTokens(secrets, 'email-links');
    this.#base = `${baseUrl}${TRACKING_PATH}`;
  }

  /** What stands in the copy of a recipient. */
  copyOf(row: MessageRow, number: number, { html }: Pick<MailContent, 'html'>): CopyLinks {
    const of = (kind: LinkKind, url: string | null) =>
      this.#link(kind, { accountId: row.account_id, emailId: row.email_id, number, url });
    let changed = html;
    if (changed !== null && row.track_clicks) {
      changed = changed.replaceAll(ANCHOR, (tag) =>
        tag.replace(HREF, (_, before: string, quote: string, href: string) => {
          const url = href.replaceAll(/&(amp|#38|quot|#39);/g, (entity) => ENTITIES[entity] as string);
          return `${before}${quote}${of('click', url)}${quote}`;
        }),
      );
    }
    if (changed !== null && row.track_opens) changed = withPixel(changed, of('open', null));
    return { html: changed, unsubscribeUrl: row.unsubscribe ? of('unsubscribe', null) : null };
  }

  /** Null: it is none of ours. */
  read(kind: LinkKind, token: string): LinkTarget | null {
    const fields = this.#tokens.read(kind, token);
    if (fields === null) return null;
    const [accountId, emailId, number, url = null] = fields as [string, string, number, string | null];
    return { accountId, emailId, number, url };
  }

  #link(kind: LinkKind, { accountId, emailId, number, url }: LinkTarget): string {
    return `${this.#base}/${kind}/${this.#tokens.write(kind, [accountId, emailId, number, ...(url === null ? [] : [url])])}`;
  }
}

function withPixel(html: string, url: string): string {
  const pixel = `<img src="${url}" width="1" height="1" alt="" style="display:none">`;
  const end = html.toLowerCase().lastIndexOf('</body>');
  return end === -1 ? html + pixel : html.slice(0, end) + pixel + html.slice(end);
}
