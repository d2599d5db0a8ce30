// Fields shared by the web operations.
import Type from 'typebox';
import { textOrNull } from '../../kit/fields.ts';
import { URL_CHARACTERS_MAX } from './limits.ts';

export const urlField = (what: string) =>
  Type.String({
    minLength: 1,
    maxLength: URL_CHARACTERS_MAX,
    description: `${what}: http or https, of a public host.`,
  });

export const mainContentField = Type.Optional(
  Type.Boolean({ description: 'Whether navigation, headers, footers and the like are left out; true when absent.' }),
);

/** What a page answers with. */
export const pageFields = {
  url: Type.String({ description: 'Of the page, after redirects.' }),
  status: Type.Integer({ description: 'The status that the site answered with; a page of an error has one too.' }),
  title: textOrNull('Title of the page.'),
  byline: textOrNull('Who wrote it, as the page says.'),
  description: textOrNull('What the page says of itself.'),
  language: textOrNull('Language tag, as the page says.'),
  content: Type.String({ description: 'In the format that was asked for.' }),
  content_hash: Type.String({ description: 'SHA-256 of content in hex: the same hash, the same content.' }),
  truncated: Type.Boolean({ description: 'The page, or its content, was longer than its bound and was cut.' }),
};
