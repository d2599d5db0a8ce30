// Challenges: requests by which a sender makes sure that the address answers. They become no message.
import type { RawAnswer } from '../../../kit/raw-route.ts';
import { fieldsOf, sameText, type Verification } from './schemes.ts';

const TEXT = /^[\x20-\x7e]{1,1024}$/;

/** In a body whose signature is right: Slack and Lark (`type: url_verification`), monday.com (nothing but a challenge). Null: it is none. */
export function challengeIn(body: unknown): RawAnswer | null {
  const fields = fieldsOf(body);
  const { challenge, type } = fields;
  const isChallenge = type === 'url_verification' || Object.keys(fields).length === 1;
  if (typeof challenge !== 'string' || !TEXT.test(challenge) || !isChallenge) return null;
  return answerOf('application/json', JSON.stringify({ challenge }));
}

/** In the query of a POST: Microsoft Graph. It comes before anything is signed; its answer is text and says nothing else. */
export function challengeOfPost(query: URLSearchParams): RawAnswer | null {
  return textAnswer(query.get('validationToken'));
}

/** Of a GET: Meta's, whose verify token must be the secret of the receiver, and Dropbox's. Null: it is none. */
export function challengeOfGet(query: URLSearchParams, { secret, scheme }: Verification): RawAnswer | 'refused' | null {
  if (query.get('hub.mode') === 'subscribe') {
    const isRight = scheme === 'none' || sameText(query.get('hub.verify_token') ?? '', secret);
    return isRight ? textAnswer(query.get('hub.challenge')) : 'refused';
  }
  return textAnswer(query.get('challenge'));
}

/** A form of Slack that only looks whether the certificate is right. */
export function isCertificateCheck({ scheme }: Verification, body: unknown): boolean {
  return scheme === 'slack' && fieldsOf(body).ssl_check === '1';
}

function textAnswer(challenge: string | null): RawAnswer | null {
  return challenge !== null && TEXT.test(challenge) ? answerOf('text/plain; charset=utf-8', challenge) : null;
}

export function answerOf(type: string, body: string): RawAnswer {
  return { status: 200, headers: { 'content-type': type }, body };
}
