// Pages that are made to take time or memory, each of at most 10 MiB, as a fetch lets in.
const BYTES_MAX = 10 * 1_048_576;
const filled = (piece: string, end = '') => piece.repeat(Math.floor((BYTES_MAX - end.length) / piece.length)) + end;
const attributes = Array.from({ length: 1_000_000 }, (_, at) => `a${at}`).join(' ');
const rows = (count: number, cells: string) => `<tr>${cells}</tr>`.repeat(count);

type Pages = Readonly<Record<string, string>>;

/** Refused at once, or read in less than a second. */
export const QUICK: Pages = {
  'nested divisions': filled('<div>'),
  'a million attributes': `<p ${attributes}>text</p>`,
  'an attribute of 10 MiB': `<a href="https://site.example/${filled('a').slice(100)}">text</a>`,
  'a class of 10 MiB': `<div class="${filled('nav ').slice(100)}">text</div>`,
  'a million links': '<a href=x>y</a>'.repeat(690_000),
  'tables in tables': `${'<table><tr><td>'.repeat(300)}deep`,
  'an unclosed comment': `<p>text</p><!--${filled('- -')}`,
  'unclosed tags': filled('<a '),
  'opening brackets': filled('<'),
  'closing tags of nothing': `${'<i>'.repeat(900)}${filled('</b>').slice(3_000)}`,
  'unclosed formatting': `${'<b><i><font>text '.repeat(60_000)}`,
  'nested quotes': `${'<blockquote>text '.repeat(900)}`,
  'JSON without end': `<script type="application/ld+json">${filled('[').slice(100)}</script><p>text</p>`,
  'nested JSON': `<script type="application/ld+json">${'{"@graph":['.repeat(10_000)}${']}'.repeat(10_000)}</script><p>text</p>`,
  'scripts that never end': `<p>text</p><script>${filled('x=1;').slice(100)}`,
};

/** Read, or refused for the time that they take. */
export const SLOW: Pages = {
  'divisions nested by closing others': filled('<div><p></div></p>'),
  'links of 180,000 addresses': Array.from({ length: 180_000 }, (_, at) => `<a href="/${at}">link ${at}</a>`).join(''),
  'a table of 100,000 cells': `<table>${rows(1_000, '<td>cell</td>'.repeat(100))}</table>`,
  'a table of one row': `<table><tr><th>a</th></tr>${rows(1, '<td>cell</td>'.repeat(100_000))}</table>`,
  'cells that span all': `<table>${rows(5_000, '<td colspan=1000 rowspan=65534>cell</td>'.repeat(10))}</table>`,
  entities: filled('&amp;'),
  'entities that are none': filled('&notit;&#x110000;&#0;'),
  'a list of 150,000 items': `<ol>${'<li>item</li>'.repeat(150_000)}</ol>`,
  'nested lists': `${'<ul><li>item '.repeat(450)}`,
  blanks: `<p>a${filled(' &nbsp;\n')}b</p>`,
  backticks: `<pre>${filled('` ')}</pre><code>${'`'.repeat(10_000)}</code>`,
  'marks of Markdown': `<p>${filled('*_[]()#+-1. \\').slice(10)}</p>`,
  'lines that wait for an end': `<p>${filled('\r\n> ').slice(10)}</p>`,
  'many short texts': `<p>${'<b>a</b> '.repeat(190_000)}</p>`,
  'paragraphs of commas': '<p>one, two, three, four, five, six, seven, eight, nine, ten, eleven</p>'.repeat(60_000),
};
