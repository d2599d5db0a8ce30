"""boto3 (pip install boto3, or Debian's python3-boto3): only the endpoint and the credentials change."""
import json
import os
import urllib.request

import boto3
from botocore.client import Config

url = os.environ.get("QM_URL", "http://127.0.0.1:8787")
headers = {"Authorization": "Bearer " + os.environ["QM_KEY"]}
# `qm keys aws` shows the same.
with urllib.request.urlopen(urllib.request.Request(url + "/v1/account/keys/aws", headers=headers)) as answer:
    aws = json.load(answer)["data"]
s3 = boto3.client(
    "s3",
    endpoint_url=aws["s3_endpoint"],
    region_name=aws["region"],
    aws_access_key_id=aws["access_key_id"],
    aws_secret_access_key=aws["secret_access_key"],
    config=Config(s3={"addressing_style": "path"}),
)

s3.create_bucket(Bucket="by-boto3")
s3.put_object(Bucket="by-boto3", Key="notes/today.txt", Body=b"Water the plants.", ContentType="text/plain")
for item in s3.list_objects_v2(Bucket="by-boto3", Prefix="notes/")["Contents"]:
    print(item["Key"], item["Size"])
print(s3.get_object(Bucket="by-boto3", Key="notes/today.txt")["Body"].read().decode())
