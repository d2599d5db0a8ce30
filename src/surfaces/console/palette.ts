// The palette: pages, acts and objects by a few letters. It is opened by the button at the top, Ctrl-K or /; the script narrows what stands
// here and asks for objects. Without scripts the button leads to the page of the search.
import type { ConsolePage } from '../../kit/console/page.ts';
import { type Html, html } from '../../lib/html.ts';
import { findPage } from './find.ts';
import type { NavPage } from './navigation.ts';
import type { PageVisit } from './visit.ts';

/** Nothing for a visitor who may not search. */
export function paletteButton(visit: PageVisit): Html {
  if (!visit.may(findPage.needs)) return html``;
  return html`<a class="search" href="${visit.path(findPage.path)}" data-palette aria-keyshortcuts="Control+K"><svg viewBox="0 0 16 16" aria-hidden="true"><circle cx="7" cy="7" r="4.5"/><path d="m10.5 10.5 4 4"/></svg><span>Search</span><kbd>Ctrl K</kbd></a>`;
}

/** `pages`: all; `entries`: those of the navigation that the visitor may see. */
export function palette(visit: PageVisit, pages: readonly ConsolePage[], entries: readonly NavPage[]): Html {
  if (!visit.may(findPage.needs)) return html``;
  const actions = pages.flatMap(({ actions: of = [] }) => of.filter(({ needs }) => visit.may(needs)));
  const option = (path: string, label: string, kind: string) =>
    html`<a role="option" tabindex="-1" href="${visit.path(path)}">${label}<span class="kind">${kind}</span></a>\n`;
  return html`<dialog id="palette" aria-label="Search">
<form method="get" action="${visit.path(findPage.path)}" role="search"><input type="search" name="q" maxlength="200" role="combobox" aria-label="Search pages, actions, names and IDs" aria-controls="found" aria-expanded="true" aria-autocomplete="list" autocomplete="off" autocapitalize="off" spellcheck="false" placeholder="Search pages, actions, names and IDs"></form>
<div id="found" role="listbox" aria-label="Results">${entries.map(({ path, nav }) => option(path, nav.label, 'page'))}${actions.map(({ path, label }) => option(path, label, 'action'))}</div>
<p class="quiet small" role="status"></p>
</dialog>`;
}
