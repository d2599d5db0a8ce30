// Content of a mail, as email.get shows it on request.
import Type, { type Static } from 'typebox';
import { textOrNull } from '../../../kit/fields.ts';
import { mailboxText } from '../addresses.ts';
import type { MailContent } from './content.ts';

const shown = Type.Object({
  text: textOrNull('The plain text; null when it has none.'),
  html: textOrNull('The HTML, as it was sent to us; null when it has none.'),
  cc: Type.Array(Type.String(), { description: 'Recipients of the header Cc.' }),
  reply_to: Type.Array(Type.String(), { description: 'Where answers go.' }),
  attachments: Type.Array(
    Type.Object({
      filename: Type.String({ description: 'Name of the file.' }),
      content_type: Type.String({ description: 'Media type.' }),
      bytes: Type.Integer({ minimum: 0, description: 'Length.' }),
    }),
    { description: 'Files that go with it; their bytes are in email.raw.' },
  ),
});

export const contentSchema = Type.Unsafe<Static<typeof shown> | null>({
  ...shown,
  type: ['object', 'null'],
  description: 'What it says; null unless asked for by `content`.',
});

export function contentRecord({ text, html, cc, replyTo, attachments }: MailContent): Static<typeof shown> {
  return {
    text,
    html,
    cc: cc.map(mailboxText),
    reply_to: replyTo.map(mailboxText),
    attachments: attachments.map(({ filename, contentType, bytes }) => ({
      filename,
      content_type: contentType,
      bytes: bytes.length,
    })),
  };
}
