// Fields shared by the web operations.
import Type from 'typebox';
import { textOrNull } from '../../kit/fields.ts';
import { RENDER_MODES, type RenderMode, type RenderWish } from './fetch/rendered.ts';
import { requireSelector } from './fetch/selector.ts';
import { URL_CHARACTERS_MAX, WAIT_FOR_CHARACTERS_MAX } from './limits.ts';
import { problem } from './problems.ts';

export const urlField = (what: string) =>
  Type.String({
    minLength: 1,
    maxLength: URL_CHARACTERS_MAX,
    description: `${what}: http or https, of a public host.`,
  });

export const mainContentField = Type.Optional(
  Type.Boolean({ description: 'Whether navigation, headers, footers and the like are left out; true when absent.' }),
);

export const renderFields = {
  render: Type.Optional(
    Type.Enum([...RENDER_MODES], {
      description:
        'Whether scripts draw a page in a browser: auto (when absent) draws HTML whose text is empty beside its scripts. A drawn page costs 0.002 USD ' +
        'in place of 0.0002.',
    }),
  ),
  wait_for: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: WAIT_FOR_CHARACTERS_MAX,
      description:
        'CSS selector of an element to wait for, up to 10 s: names, #ids, .classes and [attributes]. With auto the page is drawn.',
    }),
  ),
};

/** Throws VALIDATION_FAILED for a selector that is not taken, INVALID_REQUEST for one that nothing would wait for. */
export function renderWish({ render = 'auto', wait_for }: RenderInput): RenderWish {
  if (wait_for === undefined) return { render, waitFor: null };
  if (render === 'never')
    throw problem('INVALID_REQUEST', { param: 'wait_for', message: 'wait_for needs render auto or always.' });
  return { render, waitFor: requireSelector(wait_for) };
}

interface RenderInput {
  readonly render?: RenderMode;
  readonly wait_for?: string;
}

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
  rendered: Type.Boolean({ description: 'Whether scripts drew the page in a browser, at the price of a drawn page.' }),
  render_error: textOrNull(
    'What drawing lacked: no_browser, too_complex, not_shown, unsupported_type (the page is as the site sent it), wait_for_timeout; else null.',
  ),
};
