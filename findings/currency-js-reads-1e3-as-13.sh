#!/usr/bin/env bash
# Package: currency.js, 2.0.4
# Behavior: Of an amount that is text with an exponent, as a JSON number and a cell of a spreadsheet may have it, the E is dropped and the digits join: 1E3 is 13, not 1000, and no error is raised.
# Seen: 1E3 became 13, 1.5E3 became 1.53 and 1E+05 became 105, while the numbers 1e3, 1.5e3 and 1e5 became 1000, 1500 and 100000
set -eu

directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
npm install --prefix . --no-save --no-package-lock --ignore-scripts --silent --no-audit --no-fund currency.js@2.0.4

cat >amounts.mjs <<'END'
import currency from 'currency.js';
for (const amount of ['1E3', '1.5E3', '1E+05', '1000.00'])
  console.log(`${amount}: as text ${currency(amount).value}, as a number ${currency(Number(amount)).value}`);
END
node amounts.mjs >seen.txt
cat seen.txt

cat >expected.txt <<'END'
1E3: as text 13, as a number 1000
1.5E3: as text 1.53, as a number 1500
1E+05: as text 105, as a number 100000
1000.00: as text 1000, as a number 1000
END
diff expected.txt seen.txt
