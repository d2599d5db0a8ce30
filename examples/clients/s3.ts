// Amazon's client of S3 (npm install @aws-sdk/client-s3): only the endpoint and the credentials change.
import {
  CreateBucketCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';

const { QM_URL = 'http://127.0.0.1:8787', QM_KEY } = process.env;
// `qm keys aws` shows the same.
const answer = await fetch(`${QM_URL}/v1/account/keys/aws`, { headers: { Authorization: `Bearer ${QM_KEY}` } });
const { data: aws } = (await answer.json()) as { data: Record<string, string> };
const s3 = new S3Client({
  endpoint: aws.s3_endpoint,
  forcePathStyle: true,
  region: aws.region,
  credentials: { accessKeyId: aws.access_key_id ?? '', secretAccessKey: aws.secret_access_key ?? '' },
});

const Bucket = 'by-sdk';
await s3.send(new CreateBucketCommand({ Bucket }));
await s3.send(
  new PutObjectCommand({ Bucket, Key: 'notes/today.txt', Body: 'Water the plants.', ContentType: 'text/plain' }),
);
const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket, Prefix: 'notes/' }));
for (const { Key, Size } of Contents) console.log(Key, Size);
const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key: 'notes/today.txt' }));
console.log(await Body?.transformToString());
