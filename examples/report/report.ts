// A report with a chart as a PDF, drawn as SVG and laid out without a browser: node report.ts [file]
import { writeFile } from 'node:fs/promises';
import { call } from '../quartermaster.ts';

const sales = { January: 14.2, February: 18.9, March: 12.4, April: 23.1, May: 27.8, June: 25.3 };
const bars = Object.entries(sales).map(
  (
    [month, amount],
    at,
  ) => `<rect x="${at * 80}" y="${150 - amount * 5}" width="56" height="${amount * 5}" fill="#1a56db"/>
    <text x="${at * 80 + 28}" y="165" font-size="10" text-anchor="middle">${month}</text>`,
);
const rows = Object.entries(sales).map(
  ([month, amount]) => `<tr><td>${month}</td><td style="text-align: right">${amount.toFixed(1)}</td></tr>`,
);
const content = `<html><head><title>Sales</title><style>h1 { color: #1a56db } table { width: 100% }</style></head><body>
  <h1>Sales of half a year</h1><p>In thousands of USD. May was the best month.</p>
  <svg width="480" height="180" viewBox="0 0 480 180">${bars.join('')}</svg>
  <table><thead><tr><th>Month</th><th>Sales</th></tr></thead><tbody>${rows.join('')}</tbody></table></body></html>`;

const { pages, content_base64: pdf } = await call('pdf/create', {
  type: 'html',
  content,
  footer: 'Page {page} of {pages}',
  inline: true,
});
const file = process.argv[2] ?? 'report.pdf';
await writeFile(file, Buffer.from(pdf, 'base64'));
console.log(`${file}: ${pages} page`);
