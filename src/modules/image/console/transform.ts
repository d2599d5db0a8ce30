// An image is transformed by a form, and shown with what it became.
import { actForm, choice, field, numberOf, textOf } from '../../../kit/console/form.ts';
import type { Act, ConsolePage, View } from '../../../kit/console/page.ts';
import { facts } from '../../../kit/console/table.ts';
import { ago, ownPath, sizeText } from '../../../kit/console/text.ts';
import type { DataOf, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { transform as imageTransform } from '../capabilities/transform.ts';

type Transformed = DataOf<typeof imageTransform>;

const FORMATS = ['jpeg', 'png', 'webp', 'avif', 'gif', 'tiff'];
const FITS = ['cover', 'contain', 'fill', 'inside', 'outside'];

function wish(form: URLSearchParams) {
  const [width, height] = [numberOf(form, 'width'), numberOf(form, 'height')];
  const isResized = width !== undefined || height !== undefined;
  return {
    source: { url: textOf(form, 'source') ?? '' },
    ...(isResized ? { resize: { width, height, fit: textOf(form, 'fit') } } : {}),
    format: textOf(form, 'format'),
    quality: numberOf(form, 'quality'),
  };
}

const transform: Act<typeof imageTransform> = {
  capability: imageTransform,
  input: wish,
  done: 'Image transformed.',
  answerView: (data, visit) => ({ title: 'Transformed image', content: imageView(visit, data) }),
};

export const transformPage: ConsolePage = {
  name: 'image_transform',
  path: '/images/transform',
  needs: imageTransform,
  show,
  acts: { transform },
};

async function show(visit: Visit): Promise<View> {
  const content = html`<p><a href="${visit.path('/images')}">Images</a></p>
<h1>Transform an image</h1>
<p>The result is a link of one hour. It is not listed.</p>
${actForm(visit, 'transform', transformForm(visit, 'transform'))}`;
  return { title: 'Transform an image', content };
}

function transformForm(visit: Visit, act: string): Html {
  const same = (words: readonly string[]) => words.map((word) => [word, word] as const);
  const whole = html`inputmode="numeric"`;
  return html`${field(visit, act, { name: 'source', label: 'Image URL', isRequired: true, hint: 'JPEG, PNG, WebP, AVIF, GIF or TIFF, at most 20 MiB.', attributes: html`type="url" placeholder="https://" spellcheck="false"` })}
<div class="pair">${field(visit, act, { name: 'width', label: 'Width (px)', value: '500', attributes: whole })}
${field(visit, act, { name: 'height', label: 'Height (px)', attributes: whole })}
${choice(visit, act, { name: 'fit', label: 'Fit', value: 'cover', options: same(FITS) })}
${choice(visit, act, { name: 'format', label: 'Format', value: '', options: [['', 'as the source'], ...same(FORMATS)] })}
${field(visit, act, { name: 'quality', label: 'Quality', attributes: whole })}</div>
<button class="main">Transform image</button>`;
}

function imageView(visit: Visit, made: Transformed): Html {
  const { url, format, width, height, pages, bytes, expires_at: end } = made;
  const path = url === null ? null : ownPath(url);
  return html`<p><a href="${visit.path('/images/transform')}">Transform an image</a></p>
<h1>Transformed image</h1>
${
  path === null
    ? ''
    : html`<p><img class="made" src="${path}" width="${width}" height="${height}" alt="The transformed image"></p>
<p><a href="${path}" download="image.${format}">Download</a></p>`
}
${facts([
  ['Format', format],
  ['Size', `${width} × ${height} px`],
  ['Frames', pages === 1 ? null : String(pages)],
  ['Bytes', sizeText(bytes)],
  ['Link expires', end === null ? null : ago(visit, end)],
])}`;
}
