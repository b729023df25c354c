#!/usr/bin/env bash
# Package: Python, 3.11.2 (csv.Sniffer, as Debian 12 has it)
# Behavior: Of a file with one column, csv.Sniffer takes a letter that each row has as the delimiter, without an error: the reader cuts each token at that letter and drops it.
# Seen: of token, tok_1, tok_2 the delimiter was t, and the rows were ["", "oken"], ["", "ok_1"], ["", "ok_2"]; payment-1 was cut at y; of UUIDs it raised an error instead
set -eu

[ -x /usr/bin/python3 ] || { echo 'python3 is not installed: apt-get install python3' >&2; exit 2; }
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"

printf 'token\ntok_1\ntok_2\n' >tokens.csv
printf 'payment\npayment-1\npayment-2\n' >payments.csv
printf 'token\n00000000-0000-4000-8000-000000000001\n00000000-0000-4000-8000-000000000002\n' >uuids.csv
printf 'token,month\ntok_1,06\ntok_2,07\n' >two-columns.csv
cat >read.py <<'END'
import csv, json
for name in ("tokens", "payments", "uuids", "two-columns"):
    with open(name + ".csv", newline="") as file:
        try:
            dialect = csv.Sniffer().sniff(file.read())
        except csv.Error as error:
            print(name, error)
            continue
        file.seek(0)
        print(name, dialect.delimiter, json.dumps(list(csv.reader(file, dialect))))
END
/usr/bin/python3 read.py >seen.txt
cat seen.txt

cat >expected.txt <<'END'
tokens t [["", "oken"], ["", "ok_1"], ["", "ok_2"]]
payments y [["pa", "ment"], ["pa", "ment-1"], ["pa", "ment-2"]]
uuids Could not determine delimiter
two-columns , [["token", "month"], ["tok_1", "06"], ["tok_2", "07"]]
END
diff expected.txt seen.txt
