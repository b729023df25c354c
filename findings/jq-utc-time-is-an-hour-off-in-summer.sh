#!/usr/bin/env bash
# Package: jq, 1.6 (as Debian 12 has it)
# Behavior: fromdate of a time that ends with Z depends on the time zone of the machine: where clocks change in summer, each summer date is read one hour late, and todate writes it back an hour off.
# Seen: 2026-06-01T00:00:00Z became 2026-06-01T01:00:00Z with TZ=Europe/Berlin and with TZ=America/New_York, and stayed with TZ=UTC; 2026-12-01T00:00:00Z stayed with each
set -eu

command -v jq >/dev/null || { echo 'jq is not installed: apt-get install jq' >&2; exit 2; }
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"

printf '{"at":"2026-06-01T00:00:00Z"}\n{"at":"2026-12-01T00:00:00Z"}\n' >log.ndjson
for zone in UTC Europe/Berlin America/New_York; do
  TZ=$zone jq -r --arg zone "$zone" '[$zone, .at, (.at | fromdate | todate)] | join(" ")' log.ndjson
done >seen.txt
cat seen.txt

cat >expected.txt <<'END'
UTC 2026-06-01T00:00:00Z 2026-06-01T00:00:00Z
UTC 2026-12-01T00:00:00Z 2026-12-01T00:00:00Z
Europe/Berlin 2026-06-01T00:00:00Z 2026-06-01T01:00:00Z
Europe/Berlin 2026-12-01T00:00:00Z 2026-12-01T00:00:00Z
America/New_York 2026-06-01T00:00:00Z 2026-06-01T01:00:00Z
America/New_York 2026-12-01T00:00:00Z 2026-12-01T00:00:00Z
END
diff expected.txt seen.txt
