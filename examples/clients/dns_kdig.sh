#!/bin/sh
# kdig (https://www.knot-dns.cz, or Debian's knot-dnsutils): a zone and a record by the API, asked for at the name server. The service runs with DNS_PORT.
# Usage: DNS_PORT=5300 dns_kdig.sh ZONE
set -eu
url="${QM_URL:-http://127.0.0.1:8787}/v1/dns"
send() { curl -fsS -X "$1" "$url/$2" -H "Authorization: Bearer $QM_KEY" -H 'Content-Type: application/json' -d "$3" >/dev/null; }

send POST zone/create "{\"zone\": \"$1\"}"
send PUT record/set "{\"zone\": \"$1\", \"name\": \"www\", \"type\": \"A\", \"values\": [\"192.0.2.1\"]}"
sleep 1
kdig @127.0.0.1 -p "$DNS_PORT" "www.$1" A +short
