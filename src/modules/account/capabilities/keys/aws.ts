import Type from 'typebox';
import { awsCredentials } from '../../../../core/credentials/sigv4.ts';
import { keyOf } from '../../../../core/keys/api-key.ts';
import { defineCapability } from '../../../../kit/capability.ts';
import { problem } from '../../problems.ts';

const text = (description: string) => Type.String({ description });

export const keysAws = defineCapability()({
  method: 'GET',
  path: '/v1/account/keys/aws',
  summary: 'Shows the AWS credentials of the calling key.',
  description:
    'Give these to clients of S3 and SQS in place of AWS credentials: they sign their requests with them. They follow from the secret that ' +
    'this call was made with: the same secret always gives the same ones. They have the scopes and the cap of its key and end with it. ' +
    'Keep them as secret as the key.',
  keywords: ['aws credentials', 'sigv4 access key id', 'secret access key', 'boto3 login'],
  input: Type.Object({}),
  output: Type.Object({
    access_key_id: text('Id of the key.'),
    secret_access_key: text('40 letters and digits, derived from the secret that this call was made with.'),
    region: text('For clients that want one; any other is taken too.'),
    s3_endpoint: text('Address for clients of S3.'),
    sqs_endpoint: text('Address for clients of SQS.'),
  }),
  anyKey: true,
  needsKey: true,
  answersSecret: 'callers',
  gates: ['recent_sign_in'],
  examples: [{ title: 'Credentials for a client of SQS', input: {} }],
  async run({ ctx }) {
    const key = keyOf(ctx.principal);
    if (key === null) throw problem('INSUFFICIENT_SCOPE', { message: 'Only an API key has AWS credentials.' });
    return { data: awsCredentials(ctx.core, key.id, key.secretHash) };
  },
});
