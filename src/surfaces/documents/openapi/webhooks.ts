// The webhooks of the OpenAPI document: the service's POST requests to receivers, one entry for each event type.
import { signingRecipe } from '../../../core/outbound/signature.ts';
import { eventSchema } from '../../../kit/event-kind.ts';
import type { ToldEvent } from '../../../kit/offer.ts';
import { asJsonSchema } from '../../../manifest/json-schema.ts';
import { wholeEvent } from '../event-document.ts';
import type { SchemaShelf } from './schemas.ts';

/** Headers of every delivery, as components of the document. */
export const deliveryHeaders = {
  WebhookId: header('webhook-id', 'Id of the event; the same on every attempt.'),
  WebhookTimestamp: header('webhook-timestamp', 'Time of this attempt, Unix seconds.'),
  WebhookSignature: header('webhook-signature', signingRecipe),
};

export function webhookOf(event: ToldEvent, region: string, shelf: SchemaShelf): object {
  const { type, module, status, summary, data } = event;
  const envelope = shelf.place(asJsonSchema(eventSchema));
  const own = {
    type: 'object',
    properties: { type: { type: 'string', const: type }, data: shelf.place(asJsonSchema(data)) },
  };
  return {
    post: {
      tags: [module],
      summary,
      'x-svc-status': status,
      security: [],
      parameters: Object.keys(deliveryHeaders).map((name) => ({ $ref: `#/components/parameters/${name}` })),
      requestBody: {
        required: true,
        content: { 'application/json': { schema: { allOf: [envelope, own] }, example: wholeEvent(event, region) } },
      },
      responses: {
        '2XX': { description: 'Taken. Within timeout_seconds of the webhook, 15 where it has none.' },
        410: { description: 'No more: the webhook is disabled.' },
        default: { description: 'Tried again by retry_policy.' },
      },
    },
  };
}

function header(name: string, description: string): object {
  return { name, in: 'header', required: true, description, schema: { type: 'string' } };
}
