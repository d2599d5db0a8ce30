"""Uses boto3 as any program would: boto3_program.py ENDPOINT ACCESS_KEY_ID SECRET_ACCESS_KEY BUCKET. Prints one JSON object of what it saw."""
import hashlib
import io
import json
import sys
import urllib.request

import boto3
import botocore
from boto3.s3.transfer import TransferConfig
from botocore.client import Config
from botocore.exceptions import ClientError

endpoint, access_key_id, secret_access_key, bucket = sys.argv[1:]
s3 = boto3.client(
    "s3",
    endpoint_url=endpoint,
    region_name="us-east-1",
    aws_access_key_id=access_key_id,
    aws_secret_access_key=secret_access_key,
    config=Config(signature_version="s3v4", s3={"addressing_style": "path"}),
)
seen = {"botocore": botocore.__version__}
keys = json.loads(sys.stdin.read())


def failure(call, **fields):
    """Code and status of a call that must fail."""
    try:
        call(**fields)
    except ClientError as error:
        return [error.response["Error"]["Code"], error.response["ResponseMetadata"]["HTTPStatusCode"]]
    return None


s3.create_bucket(Bucket=bucket)
seen["buckets"] = bucket in [each["Name"] for each in s3.list_buckets()["Buckets"]]

# Keys with every character.
for key in keys:
    s3.put_object(Bucket=bucket, Key=key, Body=key.encode(), Metadata={"name": "value"})
pages = s3.get_paginator("list_objects_v2").paginate(Bucket=bucket, PaginationConfig={"PageSize": 3})
seen["listed"] = sorted(each["Key"] for page in pages for each in page.get("Contents", [])) == sorted(keys)
old = s3.get_paginator("list_objects").paginate(Bucket=bucket, PaginationConfig={"PageSize": 2})
seen["listed_old"] = sorted(each["Key"] for page in old for each in page.get("Contents", [])) == sorted(keys)
seen["read"] = all(s3.get_object(Bucket=bucket, Key=key)["Body"].read() == key.encode() for key in keys)
s3.copy({"Bucket": bucket, "Key": keys[0]}, bucket, "copied")
seen["copied"] = s3.head_object(Bucket=bucket, Key="copied")["Metadata"] == {"name": "value"}

# Uploads and downloads in parts, at the same time.
data = bytes(range(256)) * 4096 * 21
transfer = TransferConfig(multipart_threshold=6 << 20, multipart_chunksize=6 << 20, max_concurrency=4)
s3.upload_fileobj(io.BytesIO(data), bucket, "big", ExtraArgs={"ContentType": "video/mp4"}, Config=transfer)
seen["big"] = [s3.head_object(Bucket=bucket, Key="big")[name] for name in ("ContentLength", "ContentType")]
into = io.BytesIO()
s3.download_fileobj(bucket, "big", into, Config=transfer)
seen["big_same"] = hashlib.md5(into.getvalue()).digest() == hashlib.md5(data).digest()
s3.copy({"Bucket": bucket, "Key": "big"}, bucket, "big-copy", Config=transfer)
seen["big_copy"] = s3.head_object(Bucket=bucket, Key="big-copy")["ContentLength"]

# Addresses for others.
put = s3.generate_presigned_url("put_object", {"Bucket": bucket, "Key": "signed"}, ExpiresIn=60)
urllib.request.urlopen(urllib.request.Request(put, data=b"signed", method="PUT", headers={"Content-Type": ""}))
get = s3.generate_presigned_url("get_object", {"Bucket": bucket, "Key": "signed"}, ExpiresIn=60)
seen["signed"] = urllib.request.urlopen(get).read().decode()

seen["failures"] = {
    "missing": failure(s3.get_object, Bucket=bucket, Key="none"),
    "head": failure(s3.head_object, Bucket=bucket, Key="none"),
    "no_bucket": failure(s3.list_objects_v2, Bucket=bucket + "-none"),
    "full": failure(s3.delete_bucket, Bucket=bucket),
    "acl": failure(s3.put_bucket_acl, Bucket=bucket, ACL="public-read"),
    "range": failure(s3.get_object, Bucket=bucket, Key="signed", Range="bytes=100-"),
    "unchanged": failure(s3.get_object, Bucket=bucket, Key="signed", IfNoneMatch=s3.head_object(Bucket=bucket, Key="signed")["ETag"]),
    "upload": failure(s3.upload_part, Bucket=bucket, Key="x", UploadId="none", PartNumber=1, Body=b"x"),
}

found = [each["Key"] for page in s3.get_paginator("list_objects_v2").paginate(Bucket=bucket) for each in page["Contents"]]
# XML cannot hold control characters, and its answer names each key.
for key in [key for key in found if min(key) < " "]:
    s3.delete_object(Bucket=bucket, Key=key)
    found.remove(key)
deleted = s3.delete_objects(Bucket=bucket, Delete={"Objects": [{"Key": key} for key in found]})
seen["deleted"] = len(deleted["Deleted"]) == len(found)
s3.delete_bucket(Bucket=bucket)
seen["gone"] = failure(s3.head_bucket, Bucket=bucket)
print(json.dumps(seen))
