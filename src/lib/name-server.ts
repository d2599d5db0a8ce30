// Parser for name-server addresses as people write them.
import { isIP } from 'node:net';

/** A name server; `text` is how it is written and shown. */
export interface NameServer {
  readonly text: string;
  readonly host: string;
  readonly port: number;
}

/** `192.0.2.1`, `192.0.2.1:5353`, `2001:db8::1` or `[2001:db8::1]:5353`; null for everything else. */
export function readNameServer(text: string): NameServer | null {
  if (isIP(text) !== 0 && !text.includes('%')) return { text, host: text, port: 53 };
  const [, inBrackets, plain, digits = ''] = /^(?:\[([0-9a-f:.]{2,45})\]|([0-9.]{7,15})):(\d{1,5})$/i.exec(text) ?? [];
  const host = inBrackets ?? plain ?? '';
  const port = Number(digits);
  const isRight = isIP(host) === (inBrackets === undefined ? 4 : 6) && port > 0 && port < 65_536;
  return isRight ? { text, host, port } : null;
}
