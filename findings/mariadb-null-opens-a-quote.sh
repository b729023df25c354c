#!/usr/bin/env bash
# Package: mariadb-server, 10.11.19 (as Debian 12 has it)
# Behavior: SELECT INTO OUTFILE with ENCLOSED BY '"' and ESCAPED BY '"', which doubles quotes as CSV wants it, writes NULL as "N without a closing quote: a CSV reader takes the next row into that cell, without an error.
# Seen: of 4 rows whose last column is NULL in the first and third, the file has 4 lines, and Python's csv module read 2 rows
set -eu

for tool in mariadbd mariadb-install-db python3; do
  command -v "$tool" >/dev/null || { echo "$tool is not installed: apt-get install mariadb-server python3" >&2; exit 2; }
done
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
user=$(id -un)
mariadb-install-db --no-defaults --user="$user" --datadir="$directory/data" \
  --auth-root-authentication-method=normal --skip-test-db >install.log 2>&1

# The server runs one file of statements and ends; it opens no socket.
cat >export.sql <<END
create database cards;
create table cards.card (token varchar(40), year char(2), month char(2), merchant varchar(20));
insert into cards.card values ('card-1', '27', '06', null), ('card-2', '28', '07', 'Store "A"'), ('card-3', '29', '08', null), ('card-4', '30', '09', 'Store');
select * from cards.card order by token into outfile '$directory/out.csv' fields terminated by ',' enclosed by '"' escaped by '"' lines terminated by '\n';
END
mariadbd --no-defaults --bootstrap --user="$user" --datadir="$directory/data" <export.sql >server.log 2>&1
python3 -c 'import csv
for row in csv.reader(open("out.csv", newline="")): print(len(row), row[0], row[3:])' >rows.txt
cat out.csv rows.txt | tee seen.txt

cat >expected.txt <<'END'
"card-1","27","06","N
"card-2","28","07","Store ""A"""
"card-3","29","08","N
"card-4","30","09","Store"
7 card-1 ['N\ncard-2"', '28', '07', 'Store "A"']
7 card-3 ['N\ncard-4"', '30', '09', 'Store']
END
diff expected.txt seen.txt
