// Hostile documents and PDFs that take all the time or memory that there is: their thread ends, and others are served meanwhile.
import { deflateSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CATALOG, everyOperation, HostileBench, ONE_PAGE, PAGE, pdfOf, streamOf } from './hostile-documents.ts';

let bench: HostileBench;
beforeAll(async () => {
  bench = await HostileBench.soon();
});
afterAll(() => bench.service.stop());

describe('HTML', () => {
  test('whose layout has no end is ended in time', async () => {
    const uses = Array.from({ length: 40 }, (_, n) => `<g id="g${n + 1}"><use href="#g${n}"/><use href="#g${n}"/></g>`);
    const bomb = `<svg width="10" height="10"><defs><rect id="g0" width="1" height="1"/>${uses.join('')}</defs><use href="#g40"/></svg>`;
    expect((await bench.fails('create', { type: 'html', content: bomb }))[3]).toMatch(/^(too_complex|not_laid_out)$/);
  });

  test('with pictures that unpack without end is refused by its memory', async () => {
    const chunk = (type: string, data: Buffer) => {
      const head = Buffer.alloc(8);
      head.writeUInt32BE(data.length);
      head.write(type, 4, 'latin1');
      return Buffer.concat([head, data, Buffer.alloc(4)]);
    };
    const size = Buffer.from([0, 0, 0, 10, 0, 0, 0, 10, 8, 6, 0, 0, 0]);
    const png = Buffer.concat([
      Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
      ...[
        chunk('IHDR', size),
        chunk('IDAT', deflateSync(Buffer.alloc(700_000_000), { level: 9 })),
        chunk('IEND', Buffer.alloc(0)),
      ],
    ]);
    const content = `<img src="data:image/png;base64,${png.toString('base64')}">`;
    const reply = await bench.call('POST', '/v1/pdf/create', { type: 'html', content });
    expect([200, 400]).toContain(reply.status);
  });

  test.each([
    ['style sheets of open comments', `<style>${'/*'.repeat(200_000)}</style>`],
    ['style sheets of open blocks', `<style>${'a{'.repeat(200_000)}</style>`],
    ['selectors nested deep', `<style>${':not('.repeat(100)}a${')'.repeat(100)}{color:red}</style><p>x</p>`],
    ['values without end', `<p style="color:rgb(${'1,'.repeat(100_000)}">x</p>`],
    [
      'variables of variables',
      `<style>${Array.from({ length: 2_000 }, (_, n) => `p{--v${n}:var(--v${n + 1})var(--v${n + 1})}`).join('')}p{color:var(--v0)}</style><p>x</p>`,
    ],
    ['tags that never close', '<a'.repeat(300_000)],
    ['a word without end', `<p>${'x'.repeat(300_000)}</p>`],
  ])('with %s is done or refused in time', async (_, content) => {
    const { status } = await bench.call('POST', '/v1/pdf/create', { type: 'html', content });
    expect([200, 400]).toContain(status);
  });

  test.each(['[', '*a ', '> ', '`', '![x](', '- ', '|a', '<a '])(
    'Markdown of 200,000 times %j is done or refused in time',
    async (piece) => {
      const { status } = await bench.call('POST', '/v1/pdf/create', {
        type: 'markdown',
        content: piece.repeat(200_000 / piece.length),
      });
      expect([200, 400]).toContain(status);
    },
  );
});

test('a PDF whose object stream unpacks to 1 GB is refused or read in time, by every operation', async () => {
  const bomb = streamOf('/Type/ObjStm/N 1/First 4', deflateSync(Buffer.alloc(1_000_000_000), { level: 9 }));
  for (const { status, text } of await Promise.all(everyOperation(bench, pdfOf(CATALOG, ONE_PAGE, PAGE, bomb))))
    expect([200, 400], text.slice(0, 300)).toContain(status);
});

test('a PDF whose page draws without end is ended in time, and another account is served meanwhile', async () => {
  const draws = deflateSync(Buffer.from('BT /F 9 Tf (xxxxxxxx) Tj ET '.repeat(12_000_000)), { level: 9 });
  const font = '<</Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>';
  const page = `<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R/Resources${font}>>`;
  const data = pdfOf(CATALOG, ONE_PAGE, page, streamOf('', draws));
  let ended = 0;
  const hostile = Array.from({ length: 4 }, async () => {
    const { status } = await bench.call('POST', '/v1/pdf/extract_text', { source: { content_base64: data } });
    ended += 1;
    return status;
  });
  const other = await bench.withAccount();
  expect((await other.create('<p>served</p>')).pages).toBe(1);
  expect(ended).toBeLessThan(hostile.length);
  expect(await Promise.all(hostile)).toEqual(hostile.map(() => 400));
});
