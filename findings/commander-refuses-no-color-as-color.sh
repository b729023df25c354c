#!/usr/bin/env bash
# Package: commander, 14.0.3 (Option.conflicts)
# Behavior: An option that conflicts with "color" also refuses --no-color, the very opposite, and a conflict with "noColor" is accepted when the program is written and never refuses anything.
# Seen: with conflicts('color'), "--out f --no-color" ended in "option '--out <file>' cannot be used with option '--no-color'"; with conflicts('noColor'), it was accepted
set -eu

directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
npm install --prefix . --no-save --no-package-lock --ignore-scripts --silent --no-audit --no-fund commander@14.0.3

cat >conflicts.mjs <<'END'
import { Command, Option } from 'commander';

function outcomeOf(conflict, ...words) {
  const program = new Command().exitOverride().configureOutput({ writeErr() {} });
  program.addOption(new Option('--out <file>').conflicts(conflict));
  program.addOption(new Option('--color')).addOption(new Option('--no-color'));
  try {
    program.parse(words, { from: 'user' });
    return `accepted ${JSON.stringify(program.opts())}`;
  } catch (error) {
    return error.message;
  }
}

for (const conflict of ['color', 'noColor'])
  for (const word of ['--color', '--no-color']) console.log(conflict, word, outcomeOf(conflict, '--out', 'f', word));
END

cat >expected <<'END'
color --color error: option '--out <file>' cannot be used with option '--color'
color --no-color error: option '--out <file>' cannot be used with option '--no-color'
noColor --color accepted {"out":"f","color":true}
noColor --no-color accepted {"out":"f","color":false}
END

node conflicts.mjs >seen
diff expected seen
