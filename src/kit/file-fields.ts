// Schema fields for a call's source file and for the delivery of its output; the folder `files` implements them.
import Type from 'typebox';
import { decodeSource, type Source } from '../files/source.ts';
import { instantOrNull, textOrNull } from './fields.ts';
import { alsoNamed } from './second-names.ts';

const bucketField = (description: string) => Type.String({ minLength: 1, maxLength: 255, description });
const keyField = (description: string) => Type.String({ minLength: 1, maxLength: 1_024, description });

/** `what`: `The PDF.` Exactly one way must be there; `readSource` checks it. */
export const sourceField = (what: string) =>
  Type.Object(
    {
      url: Type.Optional(
        Type.String({ minLength: 1, maxLength: 2_048, description: 'A public https URL; fetched within 10 s.' }),
      ),
      content_base64: alsoNamed(
        Type.Optional(Type.String({ minLength: 1, description: 'The bytes as base64, or as a base64 data URL.' })),
        'data',
      ),
      bucket: Type.Optional(bucketField('A bucket of the account, with key.')),
      key: Type.Optional(keyField('The object in it.')),
    },
    { description: `${what} Exactly one of url, content_base64, or bucket with key.` },
  );

/** What callers say of the result. */
export const resultWishFields = {
  inline: Type.Optional(
    Type.Boolean({ description: 'Answer up to 1 MiB in content_base64; false when not sent: a link of 1 h.' }),
  ),
  store: Type.Optional(
    Type.Object(
      { bucket: bucketField('A bucket of the account.'), key: keyField('The object; one of that name is replaced.') },
      { description: 'Keep the result as this object instead.' },
    ),
  ),
};

/** What answers have of the result. */
export const resultFields = {
  content_type: Type.String({ description: 'What the bytes are.' }),
  bytes: Type.Integer({ minimum: 0, description: 'How many.' }),
  content_base64: textOrNull('The bytes as base64, with inline; else null.'),
  url: textOrNull('A link that needs no key; null with content_base64 or store.'),
  expires_at: instantOrNull('When the link ends: after 1 h.'),
  bucket: textOrNull('With store.'),
  key: textOrNull('With store.'),
};

type Sent = Source & { readonly content_base64?: string | undefined };

/** A source with its bytes in place of base64, and their memory to be handed over: for `reduce` of long bodies. Throws VALIDATION_FAILED. */
export function decodedSource(source: Sent, param: string): { source: Source; transfer: readonly ArrayBuffer[] } {
  if (source.content_base64 === undefined) return { source, transfer: [] };
  const bytes = decodeSource(source.content_base64, param);
  return { source: { ...source, content_base64: bytes }, transfer: [bytes.buffer] };
}
