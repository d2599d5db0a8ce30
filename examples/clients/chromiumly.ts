// The client of Gotenberg (npm install chromiumly): HTML to PDF, and two PDFs as one.
import { Chromiumly, HtmlConverter, PDFEngines } from 'chromiumly';

const { QM_URL = 'http://127.0.0.1:8787', QM_KEY = '' } = process.env;
Chromiumly.configure({ endpoint: `${QM_URL}/v1/pdf/gotenberg`, username: 'key', password: QM_KEY });

const page = (text: string) =>
  new HtmlConverter().convert({
    html: Buffer.from(`<h1>${text}</h1>`),
    footer: Buffer.from('<p>Page <span class="pageNumber"></span></p>'),
    properties: { size: { width: '210mm', height: '297mm' }, margins: { top: 1, bottom: 1, left: 1, right: 1 } },
  });
const merged = await PDFEngines.merge({ files: [await page('One'), await page('Two')] });
console.log(merged.subarray(0, 5).toString(), merged.length > 1_000 ? 'merged' : 'empty');
