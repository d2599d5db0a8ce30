// A vendor's key and its reference in the vendors file. A key in the file itself is refused: files are copied and shown.
import type { VendorKey } from './port.ts';
import type { Reading } from './reading.ts';

export type KeyReading =
  | { readonly kind: 'found'; readonly key: VendorKey }
  | { readonly kind: 'missing'; readonly name: string }
  | { readonly kind: 'fault'; readonly message: string };

/** What a header may hold. */
const SENDABLE = /^[!-~]{1,4096}$/;

export function readKey(
  place: string | { readonly file: string },
  reading: Pick<Reading, 'environment' | 'keyFile'>,
): KeyReading {
  if (typeof place === 'object') return keyReading(`file:${place.file}`, reading.keyFile(place.file));
  const name = /^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$/.exec(place)?.[1];
  if (name === undefined) {
    return {
      kind: 'fault',
      message: `It must be \${NAME} of the environment, or {file: PATH}; a key itself does not belong here.`,
    };
  }
  return keyReading(name, reading.environment(name) ?? null);
}

function keyReading(name: string, text: string | null): KeyReading {
  const value = text?.trim() ?? '';
  if (value === '') return { kind: 'missing', name };
  return SENDABLE.test(value)
    ? { kind: 'found', key: { name, reveal: () => value } }
    : { kind: 'fault', message: `${name} contains characters that a header cannot carry.` };
}
