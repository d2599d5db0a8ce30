// Amazon's client of SQS (npm install @aws-sdk/client-sqs): only the endpoint and the credentials change.
import {
  CreateQueueCommand,
  DeleteMessageCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';

const { QM_URL = 'http://127.0.0.1:8787', QM_KEY } = process.env;
// `qm keys aws` shows the same.
const answer = await fetch(`${QM_URL}/v1/account/keys/aws`, { headers: { Authorization: `Bearer ${QM_KEY}` } });
const { data: aws } = (await answer.json()) as { data: Record<string, string> };
const sqs = new SQSClient({
  endpoint: aws.sqs_endpoint,
  region: aws.region,
  credentials: { accessKeyId: aws.access_key_id ?? '', secretAccessKey: aws.secret_access_key ?? '' },
});

const { QueueUrl } = await sqs.send(new CreateQueueCommand({ QueueName: 'BySqs' }));
await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: '{"order":17}' }));
const { Messages = [] } = await sqs.send(new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 5 }));
for (const { Body, ReceiptHandle } of Messages) {
  console.log('received', Body);
  await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
}
