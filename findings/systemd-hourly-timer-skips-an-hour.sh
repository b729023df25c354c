#!/usr/bin/env bash
# Package: systemd, 252 (systemd-analyze, as Debian 12 has it)
# Behavior: In the night that has an hour twice, an hourly timer skips the repeated hour: two hours pass between two runs, although no hour of the day is missing.
# Seen: in Europe/Berlin on 25 October 2026, the run at 00:00 UTC (02:00 CEST) was followed by 02:00 UTC (03:00 CET), and a timer for each half hour went from 00:30 to 02:00 UTC
set -eu

command -v systemd-analyze >/dev/null || { echo 'systemd-analyze is not installed: apt-get install systemd' >&2; exit 2; }
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"

# The same timers in UTC are the comparison.
for zone in UTC Europe/Berlin; do
  for times in '*:00:00' '*:00/30:00'; do
    echo "$zone $times"
    TZ=UTC systemd-analyze --base-time='2026-10-24 23:45:00 UTC' --iterations=5 calendar "*-*-* $times $zone" |
      sed -n 's/.*\(Next elapse\|Iter. #[0-9]*\): //p'
  done
done >seen.txt
cat seen.txt

cat >expected.txt <<'END'
UTC *:00:00
Sun 2026-10-25 00:00:00 UTC
Sun 2026-10-25 01:00:00 UTC
Sun 2026-10-25 02:00:00 UTC
Sun 2026-10-25 03:00:00 UTC
Sun 2026-10-25 04:00:00 UTC
UTC *:00/30:00
Sun 2026-10-25 00:00:00 UTC
Sun 2026-10-25 00:30:00 UTC
Sun 2026-10-25 01:00:00 UTC
Sun 2026-10-25 01:30:00 UTC
Sun 2026-10-25 02:00:00 UTC
Europe/Berlin *:00:00
Sun 2026-10-25 00:00:00 UTC
Sun 2026-10-25 02:00:00 UTC
Sun 2026-10-25 03:00:00 UTC
Sun 2026-10-25 04:00:00 UTC
Sun 2026-10-25 05:00:00 UTC
Europe/Berlin *:00/30:00
Sun 2026-10-25 00:00:00 UTC
Sun 2026-10-25 00:30:00 UTC
Sun 2026-10-25 02:00:00 UTC
Sun 2026-10-25 02:30:00 UTC
Sun 2026-10-25 03:00:00 UTC
END
diff expected.txt seen.txt
