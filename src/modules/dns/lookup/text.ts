// Records as zone files show their data; names without the last dot. What came over the wire may be any bytes.
import type { Answer } from 'dns-packet';

const TEXT_CHARACTERS_MAX = 4_096;

export function nameText(name: string): string {
  return name === '' ? '.' : name.toLowerCase().replaceAll(/[^!-~]/g, '?');
}

export function dataText(answer: Answer): string {
  return textOf(answer).slice(0, TEXT_CHARACTERS_MAX).toWellFormed();
}

function textOf(answer: Answer): string {
  switch (answer.type) {
    case 'A':
    case 'AAAA':
      return answer.data;
    case 'CNAME':
    case 'NS':
    case 'PTR':
      return nameText(answer.data);
    case 'MX':
      return `${answer.data.preference ?? 0} ${nameText(answer.data.exchange)}`;
    case 'TXT':
      return Buffer.concat([answer.data].flat().map((piece) => Buffer.from(piece))).toString('utf8');
    case 'SRV': {
      const { priority = 0, weight = 0, port, target } = answer.data;
      return `${priority} ${weight} ${port} ${nameText(target)}`;
    }
    case 'CAA':
      return `${answer.data.flags ?? 0} ${answer.data.tag} "${answer.data.value}"`;
    case 'SOA': {
      const { mname, rname, serial, refresh, retry, expire, minimum } = answer.data;
      return [nameText(mname), nameText(rname), serial, refresh, retry, expire, minimum].join(' ');
    }
    default: {
      // RFC 3597, section 5.
      const { data } = answer as { readonly data?: unknown };
      return Buffer.isBuffer(data) ? `\\# ${data.length} ${data.toString('hex')}` : '';
    }
  }
}
