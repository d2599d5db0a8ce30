// sqs-consumer (npm install sqs-consumer @aws-sdk/client-sqs): a worker of a queue. It ends with the message {"last":true}.
import { GetQueueUrlCommand, SQSClient } from '@aws-sdk/client-sqs';
import { Consumer } from 'sqs-consumer';

const { QM_URL = 'http://127.0.0.1:8787', QM_KEY, QUEUE = 'jobs' } = process.env;
const answer = await fetch(`${QM_URL}/v1/account/keys/aws`, { headers: { Authorization: `Bearer ${QM_KEY}` } });
const { data: aws } = (await answer.json()) as { data: Record<string, string> };
const credentials = { accessKeyId: aws.access_key_id ?? '', secretAccessKey: aws.secret_access_key ?? '' };
const sqs = new SQSClient({ endpoint: aws.sqs_endpoint, region: aws.region, credentials });
const { QueueUrl: queueUrl = '' } = await sqs.send(new GetQueueUrlCommand({ QueueName: QUEUE }));

const worker = Consumer.create({
  queueUrl,
  sqs,
  waitTimeSeconds: 1,
  async handleMessage(message) {
    console.log('done', message.Body);
    if (JSON.parse(message.Body ?? '{}').last === true) worker.stop();
    // Answered, a message is deleted; of one that throws the lease ends, and it comes again.
    return message;
  },
});
worker.on('error', (error) => console.error(error.message));
worker.on('processing_error', (error) => console.error(error.message));
worker.start();
