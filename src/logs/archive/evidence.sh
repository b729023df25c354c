#!/bin/sh
# Checks this bundle: sh verify.sh [hash of the newest record, from another source]
# Needs sha256sum and gzip. Exit code 0: nothing was changed, removed, reordered or added.
set -eu
from=@FROM@ to=@TO@ # the days whose entries are here (UTC)
expected=${1:-}
fail() { echo "FAILED: $1" >&2; exit 1; }
hash_of() { sum=$(sha256sum < "$1"); echo "${sum%% *}"; }
cd "$(dirname "$0")"
sums=$(sha256sum -c SHA256SUMS 2> /dev/null) || fail 'files are not as SHA256SUMS says'
number=0 previous=null files=0 entries=0
while record=_manifest/$(printf %08d "$number").json; [ -f "$record" ]; do
  IFS= read -r rest < "$record" || fail "$record has no end"
  case $rest in "{\"version\":"[12]",\"sequence\":$number,\"previous\":$previous,"*) ;; *) fail "$record does not chain" ;; esac
  case $rest in *'"segments":['*) rest=${rest#*'"segments":['} && rest=${rest%%]*} ;; *) rest= ;; esac
  while [ "${rest#*\"path\":\"}" != "$rest" ]; do
    rest=${rest#*\"path\":\"} && path=${rest%%\"*}
    rest=${rest#*\"entries\":} && count=${rest%%,*}
    rest=${rest#*\"sha256\":\"} && hash=${rest%%\"*}
    day=${path#*/date=} && day=${day%%/*}
    if [ "$day" != unknown ]; then
      day=${day%%-*}${day#*-} && day=${day%-*}${day##*-}
      if [ "$day" -lt "$from" ] || [ "$day" -gt "$to" ]; then continue; fi
    fi
    [ -f "$path" ] && [ "$(hash_of "$path")" = "$hash" ] || fail "$path is missing or changed"
    [ "$(gzip -dc "$path" | wc -l)" -eq "$count" ] || fail "$path does not hold $count entries"
    files=$((files + 1)) entries=$((entries + count))
  done
  newest=$(hash_of "$record") && previous="\"$newest\"" && number=$((number + 1))
done
set -- _manifest/* tenant=*/date=*/*
[ $# -eq $((number + (files > 0 ? files : 1))) ] || fail 'there are files that no record lists'
[ "$(echo "$sums" | wc -l)" -eq $((number + files + 3)) ] || fail 'SHA256SUMS does not list every file'
[ "$newest" = "${expected:-$newest}" ] || fail "the newest record has the hash $newest, not $expected"
echo "OK: $entries entries in $files files, days $from to $to; $number records, the newest with the hash $newest"
[ -n "$expected" ] || echo 'Without the hash of the newest record from another source, this bundle proves only itself.'
