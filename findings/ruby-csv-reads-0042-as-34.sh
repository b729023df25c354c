#!/usr/bin/env bash
# Package: Ruby, 3.1.2, with its csv 3.2.2 (as Debian 12 has it)
# Behavior: The converters :integer, :numeric and :all read a cell with leading zeros as octal, as if it stood in a program: an id becomes that of another merchant, and a cell with an 8 or 9 stays text or becomes 8.0. :float reads all as decimal.
# Seen: 0042 became 34, 0100 became 64, and 08 became 8.0 with :numeric and stayed "08" with :integer; :float read 42.0, 100.0 and 8.0
set -eu

command -v ruby >/dev/null || { echo 'ruby is not installed: apt-get install ruby' >&2; exit 2; }
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"

printf 'merchant,month\n0042,07\n0100,08\n' >cards.csv
cat >read.rb <<'END'
require 'csv'
%i[integer numeric all float].each do |converter|
  puts "#{converter} #{CSV.read('cards.csv', headers: true, converters: converter).map(&:fields)}"
end
END
ruby read.rb >seen.txt
cat seen.txt

cat >expected.txt <<'END'
integer [[34, 7], [64, "08"]]
numeric [[34, 7], [64, 8.0]]
all [[34, 7], [64, 8.0]]
float [[42.0, 7.0], [100.0, 8.0]]
END
diff expected.txt seen.txt
