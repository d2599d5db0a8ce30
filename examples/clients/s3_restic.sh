#!/bin/sh
# restic (https://restic.net, or Debian's restic): an encrypted backup of a folder. The service runs with S3_PORT, whose root is that of S3.
# Usage: S3_URL=http://127.0.0.1:9000 RESTIC_PASSWORD=… s3_restic.sh FOLDER BUCKET
set -eu
url="${QM_URL:-http://127.0.0.1:8787}"
# `qm keys aws` shows the same.
aws=$(curl -fsS "$url/v1/account/keys/aws" -H "Authorization: Bearer $QM_KEY")
field() { printf %s "$aws" | sed "s/.*\"$1\":\"\([^\"]*\)\".*/\1/"; }

export AWS_ACCESS_KEY_ID="$(field access_key_id)" AWS_SECRET_ACCESS_KEY="$(field secret_access_key)"
export RESTIC_REPOSITORY="s3:$S3_URL/$2"

restic cat config >/dev/null 2>&1 || restic init
restic backup "$1"
restic check
