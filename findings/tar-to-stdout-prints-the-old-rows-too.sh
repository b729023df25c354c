#!/usr/bin/env bash
# Package: GNU tar, 1.34 (as Debian 12 has it)
# Behavior: Of a file that -r or -u has added a second time, tar -xO writes the old content and then the new, as one stream, while tar -x leaves only the new.
# Seen: after an update of rows.csv from 2 rows to 3, tar -x wrote 3 rows and tar -xO 5, in which one token has both months; both ended with 0
set -eu

tar --version 2>/dev/null | grep -q 'GNU tar' || { echo 'GNU tar is not installed: apt-get install tar' >&2; exit 2; }
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"

printf 'card-1,06\ncard-2,07\n' >rows.csv
tar -cf day.tar rows.csv
printf 'card-1,08\ncard-2,07\ncard-3,09\n' >rows.csv
tar -rf day.tar rows.csv
rm rows.csv
{
  tar -xf day.tar rows.csv && echo 'tar -x exit 0' && cat rows.csv
  tar -xOf day.tar rows.csv && echo 'tar -xO exit 0'
} >seen.txt
cat seen.txt

cat >expected.txt <<'END'
tar -x exit 0
card-1,08
card-2,07
card-3,09
card-1,06
card-2,07
card-1,08
card-2,07
card-3,09
tar -xO exit 0
END
diff expected.txt seen.txt
