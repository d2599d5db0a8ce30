// The documentation of events: the list of types, and a page for each with its payload.
import { signingRecipe } from '../../../core/outbound/signature.ts';
import type { DescribedEvent, ToldEvent } from '../../../kit/offer.ts';
import { asJsonSchema, fieldsWithin } from '../../../manifest/json-schema.ts';
import type { Manifest } from '../../../manifest/manifest.ts';
import { wholeEvent } from '../event-document.ts';
import { typeInWords } from '../fields.ts';
import { type DocsPage, h1, h2, prose } from './page.ts';

/** Path to what makes the page. */
export function eventDocs(manifest: Manifest): [string, () => DocsPage][] {
  return [
    ['/docs/events', () => eventsPage(manifest)],
    ...manifest.events.map((event): [string, () => DocsPage] => [
      `/docs/events/${event.type}`,
      () => eventPage(manifest, event),
    ]),
  ];
}

function eventsPage({ events }: Manifest): DocsPage {
  const rows = events.map(({ type, module, status, summary }) => ({
    name: { text: type, to: `/docs/events/${type}`, isCode: true },
    facts: [status === 'planned' ? `${module}, planned` : module],
    text: summary,
  }));
  const intro =
    'A webhook subscribes to one or more of these types. The catalogue is closed: another name is refused with `UNKNOWN_EVENT_TYPE`. Planned types do not occur yet and have no payload.';
  return {
    title: 'Event types',
    blocks: [h1('Event types'), prose(intro), { kind: 'entries', rows }, h2('Verify'), prose(signingRecipe)],
  };
}

function eventPage({ deployment }: Manifest, event: DescribedEvent): DocsPage {
  return {
    title: event.type,
    blocks: [
      { kind: 'up', link: { text: 'Event types', to: '/docs/events' } },
      h1(event.type),
      prose(event.summary),
      {
        kind: 'terms',
        rows: [
          ['Module', event.module],
          ['Status', event.status === 'planned' ? 'planned: it does not occur yet' : 'ga'],
        ],
      },
      ...(event.status === 'planned' ? [] : payloadOf(event, deployment.region)),
    ],
  };
}

function payloadOf(event: ToldEvent, region: string): DocsPage['blocks'] {
  const rows = fieldsWithin(asJsonSchema(event.data)).map(({ path, schema, required }) => ({
    name: path,
    facts: [typeInWords(schema), ...(required ? [] : ['may be absent'])],
    text: schema.description ?? '',
  }));
  return [
    h2('Example'),
    { kind: 'code', language: 'json', text: JSON.stringify(wholeEvent(event, region), null, 2) },
    h2('Payload: data'),
    { kind: 'entries', rows },
    h2('Verify'),
    prose(signingRecipe),
  ];
}
