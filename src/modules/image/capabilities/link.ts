import Type from 'typebox';
import { scopesAllow } from '../../../core/callers/scopes.ts';
import { clockNow } from '../../../core/database-clock.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { expiresField, instant } from '../../../kit/fields.ts';
import { iso } from '../../../lib/time.ts';
import { READ_PRICE } from '../../../objects/limits.ts';
import { keyBytes } from '../../../objects/object.ts';
import { invalidField, problem } from '../../../problems/problem.ts';
import { imageLink } from '../links/link-route.ts';
import { presetNameField, presetTable } from '../links/presets.ts';
import { transformFields, transformOf } from '../schemas.ts';
import type { ImageState } from '../state.ts';
import { PICTURE } from './examples.ts';

const WEEK_SECONDS = 604_800;
const YEAR_SECONDS = 365 * 86_400;
/** What the first request of the link does, as the key that makes it. */
const USES = ['image.transform', 'storage.object.get'] as const;

export const link = defineCapability<ImageState>()({
  method: 'POST',
  path: '/v1/image/link',
  summary: 'Makes an address that shows an object as an image, transformed.',
  description:
    'For pages and mails: whoever has the address sees the image, without a key. The first request renders it and is charged as image.transform and a read of the object; it is ' +
    'kept for 30 days, and later requests are free. It follows the object and the preset: when one changes, it is rendered anew. It ends by time, and ' +
    'with the key that made it.',
  keywords: ['image url', 'thumbnail url', 'image cdn', 'responsive images', 'signed image address'],
  isLongRead: true,
  needsKey: true,
  answersSecret: 'callers',
  input: Type.Object({
    source: Type.Object(
      {
        bucket: Type.String({ minLength: 3, maxLength: 63, description: 'A bucket of the account.' }),
        key: Type.String({ minLength: 1, maxLength: 1_024, description: 'The object in it.' }),
      },
      { description: 'The image.' },
    ),
    transform: Type.Optional(Type.Object(transformFields, { description: 'What is done to it. This or preset.' })),
    preset: Type.Optional(presetNameField),
    expires_seconds: expiresField(
      { min: 60, max: YEAR_SECONDS, usual: WEEK_SECONDS },
      'A week when absent, a year at most.',
    ),
  }),
  output: Type.Object({
    url: Type.String({ description: 'The address.' }),
    expires_at: instant('When it ends.'),
  }),
  // When it is first asked for.
  laterPrices: ['image.transform', READ_PRICE],
  errors: ['NOT_FOUND'],
  examples: [
    {
      title: 'A thumbnail of an object',
      before: [
        { capability: 'storage.bucket.create', input: { bucket: 'photos' } },
        { capability: 'storage.object.put', input: { bucket: 'photos', key: 'a.png', content_base64: PICTURE } },
      ],
      input: { source: { bucket: 'photos', key: 'a.png' }, transform: { resize: { width: 2 }, format: 'webp' } },
    },
  ],
  async run({ ctx, input }) {
    const { core, accountId, principal } = ctx;
    const { source, transform, preset = null, expires_seconds: seconds = WEEK_SECONDS } = input;
    if ((transform === undefined) === (preset === null)) {
      throw invalidField('transform', 'one_of', 'Send transform or preset, and not both.');
    }
    keyBytes(source.key, 'source.key');
    const missing = USES.find((id) => !scopesAllow(principal.scopes, id, id === 'image.transform' ? 'write' : 'read'));
    if (missing !== undefined) {
      throw problem('INSUFFICIENT_SCOPE', {
        message: `The link does what ${missing} does: this key may not call it.`,
        detail: missing,
      });
    }
    if (preset !== null && (await presetTable.find(core.db, ctx, preset)) === null) {
      throw problem('NOT_FOUND', { param: 'preset', message: 'The preset does not exist.' });
    }
    const endMs = (await clockNow(core.db)) + seconds * 1_000;
    const text = transform === undefined ? null : JSON.stringify(transformOf(transform));
    const of = { accountId, keyId: principal.id, ...source, transform: text, preset, endMs };
    return { data: { url: imageLink(core, of), expires_at: iso(endMs) } };
  },
});
