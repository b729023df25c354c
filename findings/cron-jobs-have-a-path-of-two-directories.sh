#!/usr/bin/env bash
# Package: Debian's cron, 3.0pl1-162
# Behavior: A job has the PATH of its crontab, and /usr/bin:/bin if that has none, whatever the PATH of the user or of cron itself is: a program that npm installed is not found, the job ends with 127, and only a mail says so.
# Seen: without a PATH in the crontab "svc: not found" and 127, with one the version and 0
# Needs root and a minute. Cron reads its tables from fixed places, which are mounted over for this cron alone.
set -eu

directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
mkdir -p spool/crontabs empty bin
touch empty/none
printf '#!/bin/sh\necho version 1\n' >bin/svc
chmod 755 . bin bin/svc

cat >spool/crontabs/root <<END
* * * * * svc > $directory/without 2>&1; echo "\$?" >> $directory/without
PATH=$directory/bin:/usr/bin:/bin
* * * * * svc > $directory/with 2>&1; echo "\$?" >> $directory/with
END
chmod 600 spool/crontabs/root

timeout --signal KILL 62 unshare --mount --pid --fork --kill-child sh -c '
  mount --bind spool /var/spool/cron && mount --bind empty /etc/cron.d && mount --bind empty/none /etc/crontab &&
  mount -t tmpfs none /run && PATH=$PWD/bin:$PATH exec /usr/sbin/cron -f' || true

cat without with | tee seen.txt
printf '%s\n' '/bin/sh: 1: svc: not found' 127 'version 1' 0 >expected.txt
diff expected.txt seen.txt
