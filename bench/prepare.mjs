// Measures time and memory of `svc au prepare`, for exports as databases, spreadsheets and careful scripts write them.
//   npm run bench prepare [megabytes] [runs] [bin/svc.js of another build, which takes turns with this one]
// Each measurement runs in a separate process.
import { randomUUID } from 'node:crypto';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inTurns, plainEnvironment, report, rowsFrom, runNode } from './support/measure.mjs';

const megabytes = Number(process.argv[2] ?? 100);
const runs = Number(process.argv[3] ?? 3);
const other = process.argv[4];
const NAMES = ['Müller, Jörg', 'Ann Smith', '"Bob; Jr"', "O'Hara"];
const MESSY = 'Card Ref;Customer Id;Name;Valid Until;MID;Created\r\n';

const EXPORTS = {
  'a spreadsheet': { header: MESSY, row: (at) => messy(at, NAMES[at % NAMES.length]) },
  'all quoted': { header: MESSY, row: (at) => messy(at, 'Ann').replaceAll(/[^;\r\n]+/g, '"$&"') },
  'UTF-16': { header: MESSY, row: (at) => messy(at, 'Müller, Jörg'), encoding: 'utf16le' },
  'only tokens and dates': {
    header: 'token,expiration_year,expiration_month\n',
    row: (at) => `${randomUUID()},${2027 + (at % 8)},${(at % 12) + 1}\n`,
  },
};

const directory = mkdtempSync(join(tmpdir(), 'svc-bench-'));
const launcher = fileURLToPath(new URL('../bin/svc.js', import.meta.url));
try {
  const exports = Object.entries(EXPORTS).map(([name, kind]) => generate(name, kind));
  const works = exports.flatMap(({ name, args }) => [
    [name, () => run(launcher, args)],
    ...(other === undefined ? [] : [[`${name}, other build`, () => run(other, args)]]),
  ]);
  const taken = await inTurns(runs, Object.fromEntries(works));
  const rows = rowsFrom(taken, (each) => rowsOf(each, exports));
  report('prepare', `au prepare of ${megabytes} MB, ${runs} runs in turns`, rows);
} finally {
  rmSync(directory, { recursive: true, force: true });
}

function rowsOf(taken, exports) {
  const microseconds = exports.map(({ name, count }) => (taken[name].busy * 1000) / count);
  const memory = exports.map(({ name }) => taken[name].mb);
  return [
    ...exports.flatMap(({ name }, index) => [
      { name, figure: microseconds[index], unit: 'µs a row, processor time' },
      { name: `${name}: memory`, figure: memory[index], unit: 'MB' },
      { name: `${name}: wall`, figure: taken[name].ms / 1000, unit: 's' },
    ]),
    ...exports
      .filter(() => other !== undefined)
      .map(({ name, count }) => ({
        name: `${name}, other build`,
        figure: (taken[`${name}, other build`].busy * 1000) / count,
        unit: 'µs a row, processor time',
      })),
    { name: 'a row of the slowest export', figure: Math.max(...microseconds), unit: 'µs' },
    { name: 'memory for the largest', figure: Math.max(...memory), unit: 'MB' },
  ];
}

function run(program, args) {
  return runNode([program, 'au', 'prepare', ...args], plainEnvironment(directory));
}

/** Writes an export. Returns the arguments that prepare it, and the number of its rows. */
function generate(name, { header, row, encoding = 'utf8' }) {
  const file = join(directory, `${name}.csv`);
  const output = openSync(file, 'w');
  let written = writeSync(output, Buffer.from(header, encoding));
  let count = 0;
  for (; written < megabytes * 1e6; count += 5_000) {
    const lines = Array.from({ length: 5_000 }, (_, at) => row(count + at));
    written += writeSync(output, Buffer.from(lines.join(''), encoding));
  }
  closeSync(output);
  const map = `token=${header.split(/[;,]/, 1)[0]}`;
  return { name, args: [file, '--map', map, '--out', join(directory, 'tokens.csv'), '--force'], count };
}

function messy(at, name) {
  const date = `${String((at % 12) + 1).padStart(2, '0')}/${2027 + (at % 8)}`;
  return `${randomUUID()};C-${100_000 + at};${name};${date};M${at % 7};2024-01-${10 + (at % 19)} 10:00:00\r\n`;
}
