// The documentation of events: the list of types, and a page for each with its payload.
import { signingRecipe } from '../../../core/outbound/signature.ts';
import { html } from '../../../lib/html.ts';
import { asJsonSchema, fieldsWithin } from '../../../manifest/json-schema.ts';
import type { Manifest } from '../../../manifest/manifest.ts';
import type { DescribedEvent } from '../../../manifest/offer.ts';
import { wholeEvent } from '../event-document.ts';
import { typeInWords } from '../fields.ts';
import type { SurfaceOptions } from '../openapi/openapi.ts';
import { inline, linkRoot, page, prose, table } from './page.ts';

/** Path to what renders its HTML text. */
export function renderEventDocs(manifest: Manifest, options: SurfaceOptions): Map<string, () => string> {
  const root = linkRoot(options.baseUrl);
  return new Map([
    ['/docs/events', () => eventsPage(manifest, root)],
    ...manifest.events.map((event): [string, () => string] => [
      `/docs/events/${event.type}`,
      () => eventPage(manifest, event, root),
    ]),
  ]);
}

function eventsPage({ events }: Manifest, root: string): string {
  const rows = events.map(({ type, module, status, summary }) => [
    html`<a href="${root}/docs/events/${type}"><code>${type}</code></a>`,
    status === 'planned' ? `${module} (planned)` : module,
    summary,
  ]);
  const content = html`<h1>Event types</h1>
${prose('A webhook subscribes to one or more of these types. The catalogue is closed: another name is refused with `UNKNOWN_EVENT_TYPE`. What is planned does not occur yet; its payload may still change.')}
${table(['Type', 'Module', 'When it is sent'], rows)}
<h2>Verify</h2>
${prose(signingRecipe)}`;
  return page(root, 'Event types', content);
}

function eventPage({ deployment }: Manifest, event: DescribedEvent, root: string): string {
  const rows = fieldsWithin(asJsonSchema(event.data)).map(({ path, schema, required }) => [
    html`<code>${path}</code>`,
    typeInWords(schema),
    required ? 'always' : 'may be absent',
    html`${inline(schema.description ?? '')}`,
  ]);
  const content = html`<p class="quiet"><a href="${root}/docs/events">Event types</a></p>
<h1>${event.type}</h1>
${prose(event.summary)}
<dl><dt>Module</dt><dd>${event.module}</dd><dt>Status</dt><dd>${event.status === 'planned' ? 'planned: it does not occur yet' : 'ga'}</dd></dl>
<h2>Example</h2>
<pre><code>${JSON.stringify(wholeEvent(event, deployment.region), null, 2)}</code></pre>
<h2>Payload: data</h2>
${table(['Field', 'Type', 'Presence', 'Meaning'], rows)}
<h2>Verify</h2>
${prose(signingRecipe)}`;
  return page(root, event.type, content);
}
