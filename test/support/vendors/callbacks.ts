// How vendors sign the calls they make, and what they publish for checking that.
import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { Webhook } from 'standardwebhooks';

export interface Signer {
  /** The answer where keys or secrets are asked for. */
  readonly published: unknown;
  headers(reference: string, body: Buffer, atMs: number): Record<string, string>;
}

export function signerOf(vendor: string): Signer {
  if (vendor === 'fal') return ed25519();
  if (vendor === 'replicate') return standardWebhooks();
  return { published: {}, headers: () => ({}) };
}

/** https://fal.ai/docs, "Webhooks": over request, user, time and the digest of the body, each on a line. */
function ed25519(): Signer {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const another = generateKeyPairSync('ed25519').publicKey;
  const keys = [another, publicKey].map((key, n) => ({ ...key.export({ format: 'jwk' }), kid: `key-${n}` }));
  return {
    published: { keys },
    headers(reference, body, atMs) {
      const at = String(Math.floor(atMs / 1000));
      const message = [reference, 'user-1', at, createHash('sha256').update(body).digest('hex')].join('\n');
      return {
        'x-fal-webhook-request-id': reference,
        'x-fal-webhook-user-id': 'user-1',
        'x-fal-webhook-timestamp': at,
        'x-fal-webhook-signature': sign(null, Buffer.from(message), privateKey).toString('hex'),
      };
    },
  };
}

function standardWebhooks(): Signer {
  const secret = `whsec_${randomBytes(24).toString('base64')}`;
  return {
    published: { key: secret },
    headers(reference, body, atMs) {
      const id = `msg_${reference}`;
      return {
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(atMs / 1000)),
        'webhook-signature': new Webhook(secret).sign(id, new Date(atMs), body),
      };
    },
  };
}
