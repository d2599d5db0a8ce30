import { expect, test } from 'vitest';
import { findParticiples } from './check-names.ts';

test.each([
  ['a function', 'export function told(mail: string) {}'],
  ['a constant whose value is a function', 'const told = (mail: string) => mail;'],
  ['a function expression', 'const told = function (mail: string) {};'],
  ['a local function', 'function tellMail() { const told = () => 1; }'],
  ['a method', 'class Mail { told() {} }'],
  ['a private method', 'class Mail { #told() {} }'],
  ['a member whose value is a function', 'class Mail { readonly told = () => 1; }'],
  ['a method of an object', 'const mail = { told() {} };'],
])('%s may not be a bare participle', (_, source) => {
  expect(findParticiples('a.ts', source)).toEqual([{ name: 'told', line: 1 }]);
});

test.each(['listed', 'read', 'cut', 'put', 'written'])('%s is one', (name) => {
  expect(findParticiples('a.ts', `\nfunction ${name}() {}`)).toEqual([{ name, line: 2 }]);
});

test.each([
  ['data', 'const told = 1; let read: string;'],
  ['a member that is data, and a property of an interface', 'class Mail { told = 1 } interface Mails { told: string }'],
  ['a getter', 'class Mail { get told() { return 1; } }'],
  ['a name of more words', 'const readMail = () => 1; function isTold() {} function listedMails() {}'],
  ['a verb that ends like one', 'function embed() {} function need() {} function succeed() {}'],
  ['an act of its object', 'class Mail { read() {} put() {} }'],
])('%s is none', (_, source) => {
  expect(findParticiples('a.ts', source)).toEqual([]);
});
