// Danger zone at the end of a page: acts that end or empty something. Each states its effect, and has its button
// or a link to the page that asks for the name.
import { type Html, html } from '../../lib/html.ts';

export interface Danger {
  /** `Delete this queue` */
  readonly title: string;
  /** What is gone afterwards, in a sentence. */
  readonly text: Html | string;
  /** A form of one button, or a link with the class `danger`. */
  readonly act: Html;
}

/** Nothing where the visitor may do none of them. */
export function dangerZone(acts: readonly (Danger | null)[]): Html {
  const shown = acts.filter((each) => each !== null);
  if (shown.length === 0) return html``;
  const each = ({ title, text, act }: Danger) => html`<li><div><h3>${title}</h3><p>${text}</p></div>${act}</li>`;
  return html`<section class="danger-zone" aria-labelledby="danger-zone"><h2 id="danger-zone">Danger zone</h2><ul>${shown.map(each)}</ul></section>`;
}

/** A link to the page that asks before the act. */
export function dangerLink(href: string, label: string): Html {
  return html`<a class="button danger" href="${href}">${label}</a>`;
}
