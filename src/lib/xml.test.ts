// What is read of XML, and what no document may cost: what is beyond a bound is not looked at.
import { describe, expect, test } from 'vitest';
import { readXmlTree, type XmlElement } from './xml.ts';

const BOUNDS = { bytesMax: 10_000, partsMax: 100 };
const read = (text: string, bounds = BOUNDS) => readXmlTree(Buffer.from(text), bounds);
/** `name[text|child child]`. */
const written = ({ name, text, children }: XmlElement): string =>
  `${name}[${[text, ...children.map(written)].join('|')}]`;

describe('a document', () => {
  test.each([
    ['<a/>', 'a[]'],
    ['\ufeff<?xml version="1.0"?>\n<!-- hello -->\n<a />\n', 'a[]'],
    ['<x:a xmlns:x="http://x" y = \'1\'><x:b>1</x:b><b> 2\r\n3\r4 </b ></x:a>', 'a[|b[1]|b[ 2\n3\n4 ]]'],
    ['<a>1<b/>2<![CDATA[<b>&amp;]]>3<!-- <c> -->4<?p <d> ?>5</a>', 'a[12<b>&amp;345|b[]]'],
    ['<a>&lt;&#65;&#x42;&amp;lt;</a>', 'a[<AB&lt;]'],
    ['<é.1-2/>', 'é.1-2[]'],
    ['<__proto__><constructor/></__proto__>', '__proto__[|constructor[]]'],
  ])('%j is read', (text, due) => {
    expect(written(read(text))).toBe(due);
  });

  test.each([
    ['', 'has no element'],
    ['text', 'outside'],
    ['<a/>text', 'outside'],
    ['<![CDATA[x]]><a/>', 'outside'],
    ['<a/><b/>', 'more than one'],
    ['<a>', 'has no end'],
    ['</a>', 'ends no element'],
    ['<a></b>', 'ends no element'],
    ['<x:a></y:a>', 'ends no element'],
    ['<a', 'breaks off'],
    ['<a><!-- x</a>', 'breaks off'],
    ['<a><![CDATA[x</a>', 'breaks off'],
    ['<1/>', 'no tag'],
    ['<a b/>', 'no tag'],
    ['<a b=c/>', 'no tag'],
    ['<a b="<"/>', 'no tag'],
    ['< a/>', 'no tag'],
    ['<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', 'document type'],
    ['<a><!ENTITY b "c"></a>', 'document type'],
    ['<a>&b;</a>', 'not known'],
    ['<a>&#xD800;</a>', 'no character'],
  ])('%j is refused', (text, due) => {
    expect(() => read(text)).toThrow(due);
  });
});

// What stands behind the bound is no XML: whoever had looked at it would have said so.
const BEHIND = '<<<&&&';
describe('the bound stops the reading', () => {
  test.each([
    ['elements', '<b/>'.repeat(101)],
    ['elements with texts', 'x<b/>'.repeat(51)],
    ['elements that end', '<b></b>'.repeat(101)],
    ['white space between', ' <b/>'.repeat(51)],
    ['attributes', `<b ${'c="" '.repeat(101)}/>`],
    ['comments', '<!---->'.repeat(101)],
    ['sections', '<![CDATA[]]>'.repeat(101)],
    ['instructions', '<?p?>'.repeat(101)],
  ])('of parts: %s', (_, parts) => {
    expect(() => read(`<a>${parts}${BEHIND}`)).toThrow('may have 100 elements, attributes and texts');
  });

  test('of levels', () => {
    expect(() => read(`${'<a>'.repeat(11)}${BEHIND}`)).toThrow('10 levels');
    expect(written(read(`${'<a>'.repeat(9)}<a/>${'</a>'.repeat(9)}`))).toBe(`${'a[|'.repeat(9)}a[${']'.repeat(10)}`);
  });

  test.each([
    ['a text', `<a>${'x'.repeat(8_193)}`],
    ['a tag', `<a ${' '.repeat(8_193)}>`],
    ['a comment', `<a><!--${'x'.repeat(8_193)}-->`],
    ['a section', `<a><![CDATA[${'x'.repeat(8_193)}]]>`],
  ])('of characters of %s', (_, text) => {
    expect(() => read(`${text}${BEHIND}`)).toThrow('may have 8192 characters');
  });

  test('of bytes', () => {
    expect(() => read(`<a/>${' '.repeat(10_000)}`)).toThrow('may have 10000 bytes');
    expect(() => readXmlTree(Buffer.alloc(10_001, 0xff), BOUNDS)).toThrow('may have 10000 bytes');
  });

  test('and as much as the bound allows is read', () => {
    expect(read(`<a>${'x<b/>'.repeat(49)}</a>`).children).toHaveLength(49);
    expect(read(`<a>${'x'.repeat(8_192)}</a>`).text).toHaveLength(8_192);
  });
});
