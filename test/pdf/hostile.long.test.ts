// Hostile documents and PDFs are refused with a clear error, and nothing of this machine is shown in what is made. What takes seconds stands in
// hostile.alone.test.ts.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { base64 } from './harness.ts';
import { CATALOG, everyOperation, HostileBench, ONE_PAGE, PAGE, pdfOf } from './hostile-documents.ts';

let bench: HostileBench;
beforeAll(async () => {
  bench = await HostileBench.soon();
});
afterAll(() => bench.service.stop());

describe('HTML', () => {
  test.each([
    ['nested 100,000 deep', '<div>'.repeat(100_000)],
    ['nested 200 deep', `${'<b>'.repeat(200)}x`],
    ['of 150,000 elements', '<i>x</i>'.repeat(150_000)],
  ])('%s is too complex', async (_, content) => {
    expect(await bench.fails('create', { type: 'html', content })).toEqual([
      400,
      'VALIDATION_FAILED',
      'content',
      'too_complex',
    ]);
  });

  test('gives no orders to the layout, and shows no file of this machine', async () => {
    const orders = [
      `<p data-pdfmake='{"image":"/etc/passwd"}'>a</p>`,
      `<p data-pdfmake="{'text':'ordered','qr':'x'}">b</p>`,
      '<p style="image:/etc/passwd;svg:x;table:y;qr:z;attachment:w;pagebreak:before">c</p>',
      '<div data-pdfmake-type="columns"><p>d</p></div>',
      '<img src="/etc/passwd"><img src="file:///etc/passwd"><img src="Roboto-Regular.ttf">',
      '<svg width="9" height="9"><image href="/etc/passwd" width="9" height="9"/><style>@import "file:///etc/passwd"</style></svg>',
      '<p style="font-family: /etc/passwd; font-size: 1e9px; margin: -9999999px; line-height: -5; width: NaN">e</p>',
      '<table><tr><td colspan="1000000000" rowspan="1000000000">f</td></tr><tr></tr></table><ol start="1e99"><li>g</li></ol>',
      '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]>&b;',
    ];
    const made = await bench.create(orders.join('\n'));
    const text = (await bench.text(made.content_base64)).join();
    for (const letter of 'abcdefg') expect(text).toContain(letter);
    expect(text).not.toMatch(/root:|ordered/);
  });
});

test.each([
  ['whose pages are their own parent', pdfOf(CATALOG, '<</Type/Pages/Kids[2 0 R]/Count 1>>')],
  ['of arrays 100,000 deep', pdfOf(CATALOG, '['.repeat(100_000))],
  ['that says it has 10^9 pages', pdfOf(CATALOG, '<</Type/Pages/Kids[3 0 R]/Count 1000000000>>', PAGE)],
  [
    'whose form has itself as a field',
    pdfOf('<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[4 0 R]>>>>', ONE_PAGE, PAGE, '<</T(a)/Kids[4 0 R]>>'),
  ],
  ['that is cut off', base64('%PDF-1.7\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pag')],
  ['of nothing but a head', base64('%PDF-1.7')],
])('a PDF %s is refused or read by every operation', async (_, data) => {
  for (const { status, text } of await Promise.all(everyOperation(bench, data)))
    expect([200, 400], text.slice(0, 300)).toContain(status);
});
