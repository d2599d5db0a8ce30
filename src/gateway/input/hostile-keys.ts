// Refuses `__proto__` and `constructor.prototype` as keys anywhere but in opaque values: no legitimate client sends them (contract §1).
import { invalidField } from '../../problems/problem.ts';

/** Throws VALIDATION_FAILED that names the first such key. `opaque`: names whose content is data. */
export function refuseHostileKeys(root: object, opaque: ReadonlySet<string>, at = ''): void {
  visit(root, opaque, at, false);
}

function visit(value: unknown, opaque: ReadonlySet<string>, path: string, inConstructor: boolean): void {
  if (value === null || typeof value !== 'object') return;
  if (Array.isArray(value)) {
    for (const [i, item] of value.entries()) visit(item, opaque, `${path}[${i}]`, false);
    return;
  }
  for (const [name, child] of Object.entries(value)) {
    const at = path === '' ? name : `${path}.${name}`;
    if (name === '__proto__' || (inConstructor && name === 'prototype')) {
      throw invalidField(at, 'forbidden_key', `The key ${name} is not allowed.`);
    }
    if (!opaque.has(name)) visit(child, opaque, at, name === 'constructor');
  }
}
