"""Uses boto3 as any program would: boto3_program.py ENDPOINT ACCESS_KEY_ID SECRET_ACCESS_KEY PREFIX. Prints one JSON object of what it saw."""
import base64
import json
import sys

import boto3
import botocore
from botocore.exceptions import ClientError

endpoint, access_key_id, secret_access_key, prefix = sys.argv[1:]
session = boto3.session.Session(
    aws_access_key_id=access_key_id, aws_secret_access_key=secret_access_key, region_name="us-east-1"
)
sqs = session.client("sqs", endpoint_url=endpoint)
seen = {"protocol": sqs.meta.service_model.metadata["protocol"], "botocore": botocore.__version__}


def failure(call, **fields):
    """Code, status and exception of a call that must fail."""
    try:
        call(**fields)
    except ClientError as error:
        told = error.response
        return [told["Error"]["Code"], told["ResponseMetadata"]["HTTPStatusCode"], type(error).__name__]
    return None


# Messages, their attributes and their leases.
url = sqs.create_queue(QueueName=prefix + "Main", Attributes={"VisibilityTimeout": "40"}, tags={"team": "film"})["QueueUrl"]
seen["url"] = url
seen["same_url"] = sqs.get_queue_url(QueueName=prefix + "Main")["QueueUrl"] == url
body = "é 漢 😀 <b>&amp;</b>\r\n\t\"quoted\""
attributes = {
    "text": {"DataType": "String", "StringValue": "é & <x>"},
    "number": {"DataType": "Number.int", "StringValue": "-17"},
    "bytes": {"DataType": "Binary", "BinaryValue": b"\x00\xff\x80"},
}
sent = sqs.send_message(QueueUrl=url, MessageBody=body, MessageAttributes=attributes)
(message,) = sqs.receive_message(QueueUrl=url, MessageAttributeNames=["All"], AttributeNames=["All"])["Messages"]
seen["body"] = message["Body"] == body and message["MessageId"] == sent["MessageId"]
seen["body_md5"] = [sent["MD5OfMessageBody"], message["MD5OfBody"]]
seen["attributes"] = message["MessageAttributes"] == attributes
seen["attributes_md5"] = [sent["MD5OfMessageAttributes"], message["MD5OfMessageAttributes"]]
seen["receive_count"] = message["Attributes"]["ApproximateReceiveCount"]
seen["nothing_left"] = "Messages" not in sqs.receive_message(QueueUrl=url)
sqs.change_message_visibility(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"], VisibilityTimeout=0)
(again,) = sqs.receive_message(QueueUrl=url, AttributeNames=["ApproximateReceiveCount"], WaitTimeSeconds=1)["Messages"]
seen["second_count"] = again["Attributes"]
sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
sqs.delete_message(QueueUrl=url, ReceiptHandle=again["ReceiptHandle"])

# Batches.
entries = [{"Id": "a", "MessageBody": "1"}, {"Id": "b", "MessageBody": "bell \x07"}, {"Id": "c", "MessageBody": "{}"}]
if seen["protocol"] == "query":
    entries[0]["MessageAttributes"] = {"raw": {"DataType": "Binary", "BinaryValue": base64.b64decode("AAE=")}}
batch = sqs.send_message_batch(QueueUrl=url, Entries=entries)
seen["batch"] = [[e["Id"] for e in batch["Successful"]], [[e["Id"], e["Code"], e["SenderFault"]] for e in batch["Failed"]]]
received = []
while len(received) < 2:
    received += sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10, WaitTimeSeconds=5)["Messages"]
seen["batch_bodies"] = sorted(each["Body"] for each in received)
handles = [{"Id": str(n), "ReceiptHandle": each["ReceiptHandle"]} for n, each in enumerate(received)]
visible = [dict(each, VisibilityTimeout=100) for each in handles]
seen["visibility_batch"] = len(sqs.change_message_visibility_batch(QueueUrl=url, Entries=visible)["Successful"])
seen["delete_batch"] = len(sqs.delete_message_batch(QueueUrl=url, Entries=handles)["Successful"])

# Attributes and tags.
sqs.set_queue_attributes(QueueUrl=url, Attributes={"DelaySeconds": "7", "MessageRetentionPeriod": "3600"})
told = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]
names = ["VisibilityTimeout", "DelaySeconds", "MessageRetentionPeriod", "ApproximateNumberOfMessages"]
seen["told"] = [told[name] for name in names]
seen["arn"] = told["QueueArn"]
sqs.tag_queue(QueueUrl=url, Tags={"cost": "é&"})
sqs.untag_queue(QueueUrl=url, TagKeys=["team"])
seen["tags"] = sqs.list_queue_tags(QueueUrl=url)["Tags"]

# FIFO, and the resources of boto3 above the client.
resource = session.resource("sqs", endpoint_url=endpoint)
fifo = resource.create_queue(
    QueueName=prefix + "order.fifo", Attributes={"FifoQueue": "true", "ContentBasedDeduplication": "true"}
)
numbers = [fifo.send_message(MessageBody=each, MessageGroupId="g")["SequenceNumber"] for each in ("x", "y", "x")]
seen["sequence"] = [numbers[0] < numbers[1], numbers[0] == numbers[2]]
taken = fifo.receive_messages(MaxNumberOfMessages=10, AttributeNames=["MessageGroupId"])
seen["fifo"] = [[each.body, each.attributes["MessageGroupId"]] for each in taken]
for each in taken:
    each.delete()
seen["queues"] = sorted(each.url.split("/")[-1] for each in resource.queues.filter(QueueNamePrefix=prefix))
dead = resource.create_queue(QueueName=prefix + "dead")
policy = {"deadLetterTargetArn": dead.attributes["QueueArn"], "maxReceiveCount": 2}
sqs.set_queue_attributes(QueueUrl=url, Attributes={"RedrivePolicy": json.dumps(policy)})
seen["sources"] = [each.url == url for each in dead.dead_letter_source_queues.all()]

# Failures.
missing = url.replace("Main", "Missing")
seen["failures"] = {
    "missing": failure(sqs.send_message, QueueUrl=missing, MessageBody="x"),
    "exists": failure(sqs.create_queue, QueueName=prefix + "Main", Attributes={"VisibilityTimeout": "41"}),
    "handle": failure(sqs.delete_message, QueueUrl=url, ReceiptHandle="none"),
    "contents": failure(sqs.send_message, QueueUrl=url, MessageBody="bell \x07"),
    "empty_batch": failure(sqs.send_message_batch, QueueUrl=url, Entries=[]),
    "attribute": failure(sqs.set_queue_attributes, QueueUrl=url, Attributes={"Speed": "11"}),
    "delay": failure(sqs.send_message, QueueUrl=url, MessageBody="x", DelaySeconds=901),
    "permission": failure(sqs.remove_permission, QueueUrl=url, Label="l"),
}
stranger = session.client("sqs", endpoint_url=endpoint, aws_access_key_id=access_key_id, aws_secret_access_key="x" * 40)
seen["failures"]["signature"] = failure(stranger.list_queues)

sqs.purge_queue(QueueUrl=url)
sqs.delete_queue(QueueUrl=url)
seen["deleted"] = failure(sqs.get_queue_url, QueueName=prefix + "Main")
print(json.dumps(seen))
