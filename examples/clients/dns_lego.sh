#!/bin/sh
# lego (https://go-acme.github.io/lego, or Debian's lego): a certificate for a domain and all names below it, proved by a record of its zone here.
# Usage: dns_lego.sh DOMAIN MAIL [OPTIONS OF LEGO]
set -eu
domain="$1" mail="$2"
shift 2
export PDNS_API_URL="${QM_URL:-http://127.0.0.1:8787}/v1/dns/powerdns" PDNS_API_KEY="$QM_KEY"

lego --accept-tos --email "$mail" --dns pdns --domains "*.$domain" --domains "$domain" "$@" run
