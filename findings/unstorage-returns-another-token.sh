#!/usr/bin/env bash
# Package: unstorage, 1.17.6, with destr 2.0.5
# Behavior: getItem does not return the text that setItem was given, but the JSON value that the text happens to be, and a number of 16 digits above 9007199254740991 is rounded: a token that begins with 9, as cards do not, comes back as another token. With 17 digits it stays text; getItemRaw returns what was stored.
# Seen: the texts 9999999999999999 and 9123456789012345 came back as the numbers 10000000000000000 and 9123456789012344, 1E5 as 100000, and 12345678901234567 as it was
set -eu

directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
npm install --prefix . --no-save --no-package-lock --ignore-scripts --silent --no-audit --no-fund unstorage@1.17.6 destr@2.0.5

cat >store.mjs <<'END'
import { createStorage } from 'unstorage';
const storage = createStorage();
for (const token of ['9999999999999999', '9123456789012345', '12345678901234567', '1E5', '0042']) {
  await storage.setItem('token', token);
  console.log(token, JSON.stringify(await storage.getItem('token')), await storage.getItemRaw('token'));
}
END
node store.mjs >seen.txt
cat seen.txt

cat >expected.txt <<'END'
9999999999999999 10000000000000000 9999999999999999
9123456789012345 9123456789012344 9123456789012345
12345678901234567 "12345678901234567" 12345678901234567
1E5 100000 1E5
0042 "0042" 0042
END
diff expected.txt seen.txt
