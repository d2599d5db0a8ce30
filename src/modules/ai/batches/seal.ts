// Encryption of batch data: each request, response and error message is encrypted by itself.
import type { Services } from '../../../kit/services.ts';

type With = Pick<Services, 'secrets'>;
type Part = 'request' | 'response' | 'error';

const saltOf = (batchId: string, itemNo: number, part: Part) => `${batchId} ${itemNo} ${part}`;

export function seal({ secrets }: With, batchId: string, itemNo: number, part: Part, text: string): Buffer {
  return secrets.encrypt('ai-batch', saltOf(batchId, itemNo, part), text);
}

export function unseal({ secrets }: With, batchId: string, itemNo: number, part: Part, sealed: Buffer): string {
  return secrets.decrypt('ai-batch', saltOf(batchId, itemNo, part), sealed);
}
