#!/bin/sh
# rclone (https://rclone.org, or Debian's rclone): copies a folder into a bucket, and checks that both are the same.
# Usage: s3_rclone.sh FOLDER BUCKET
set -eu
url="${QM_URL:-http://127.0.0.1:8787}"
# `qm keys aws` shows the same.
aws=$(curl -fsS "$url/v1/account/keys/aws" -H "Authorization: Bearer $QM_KEY")
field() { printf %s "$aws" | sed "s/.*\"$1\":\"\([^\"]*\)\".*/\1/"; }

export RCLONE_CONFIG_QM_TYPE=s3 RCLONE_CONFIG_QM_PROVIDER=Other RCLONE_CONFIG_QM_FORCE_PATH_STYLE=true
export RCLONE_CONFIG_QM_ENDPOINT="$(field s3_endpoint)"
export RCLONE_CONFIG_QM_ACCESS_KEY_ID="$(field access_key_id)"
export RCLONE_CONFIG_QM_SECRET_ACCESS_KEY="$(field secret_access_key)"

rclone mkdir "qm:$2"
rclone copy "$1" "qm:$2"
rclone check "$1" "qm:$2" && echo "copied $1 to $2"
