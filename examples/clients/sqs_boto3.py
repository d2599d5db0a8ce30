"""boto3 (pip install boto3, or Debian's python3-boto3): only the endpoint and the credentials change."""
import json
import os
import urllib.request

import boto3

url = os.environ.get("QM_URL", "http://127.0.0.1:8787")
headers = {"Authorization": "Bearer " + os.environ["QM_KEY"]}
# `qm keys aws` shows the same.
with urllib.request.urlopen(urllib.request.Request(url + "/v1/account/keys/aws", headers=headers)) as answer:
    aws = json.load(answer)["data"]
sqs = boto3.client(
    "sqs",
    endpoint_url=aws["sqs_endpoint"],
    region_name=aws["region"],
    aws_access_key_id=aws["access_key_id"],
    aws_secret_access_key=aws["secret_access_key"],
)

queue = sqs.create_queue(QueueName="ByBoto3")["QueueUrl"]
sqs.send_message(QueueUrl=queue, MessageBody="any text")
for message in sqs.receive_message(QueueUrl=queue, WaitTimeSeconds=5).get("Messages", []):
    print("received", message["Body"])
    sqs.delete_message(QueueUrl=queue, ReceiptHandle=message["ReceiptHandle"])
