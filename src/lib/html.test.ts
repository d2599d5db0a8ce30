import { expect, test } from 'vitest';
import { html } from './html.ts';

test('interpolated text cannot become markup or leave an attribute', () => {
  const hostile = `<img src=x onerror='a("b")'>&amp;`;
  expect(html`<a title="${hostile}">${hostile}</a>`.text).toBe(
    '<a title="&lt;img src=x onerror=&#39;a(&quot;b&quot;)&#39;&gt;&amp;amp;">&lt;img src=x onerror=&#39;a(&quot;b&quot;)&#39;&gt;&amp;amp;</a>',
  );
});

test('nested html and lists of it are kept as they are', () => {
  expect(html`<ul>${['<', '>'].map((item) => html`<li>${item}</li>`)}</ul>${7}`.text).toBe(
    '<ul><li>&lt;</li><li>&gt;</li></ul>7',
  );
});
