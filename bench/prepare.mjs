// Measures time and memory of `svc au prepare`, for exports as databases, spreadsheets and careful scripts write them.
//   node bench/prepare.mjs [megabytes] [runs]
// Each measurement runs in a separate process. Build first.
import { randomUUID } from 'node:crypto';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { median, plainEnvironment, report, runNode } from './support/measure.mjs';

const megabytes = Number(process.argv[2] ?? 100);
const runs = Number(process.argv[3] ?? 3);
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
  const rows = [];
  for (const [name, kind] of Object.entries(EXPORTS)) rows.push(...(await measure(name, kind)));
  report(`au prepare of ${megabytes} MB, median of ${runs} runs`, rows);
} finally {
  rmSync(directory, { recursive: true, force: true });
}

async function measure(name, kind) {
  const file = generate(kind);
  const args = [launcher, 'au', 'prepare', file, '--map', `token=${kind.header.split(/[;,]/, 1)[0]}`];
  const out = ['--out', join(directory, 'tokens.csv'), '--force'];
  const taken = [];
  for (let run = 0; run < runs; run += 1) taken.push(await runNode([...args, ...out], plainEnvironment(directory)));
  return [
    { name: `au prepare: ${name}`, figure: median(taken.map(({ ms }) => ms)) / 1000, unit: 's', goal: megabytes / 10 },
    { name: `au prepare: ${name}: memory`, figure: median(taken.map(({ mb }) => mb)), unit: 'MB', goal: 100 },
  ];
}

function generate({ header, row, encoding = 'utf8' }) {
  const file = join(directory, 'export.csv');
  const output = openSync(file, 'w');
  let written = writeSync(output, Buffer.from(header, encoding));
  for (let from = 0; written < megabytes * 1e6; from += 5_000) {
    const lines = Array.from({ length: 5_000 }, (_, at) => row(from + at));
    written += writeSync(output, Buffer.from(lines.join(''), encoding));
  }
  closeSync(output);
  return file;
}

function messy(at, name) {
  const date = `${String((at % 12) + 1).padStart(2, '0')}/${2027 + (at % 8)}`;
  return `${randomUUID()};C-${100_000 + at};${name};${date};M${at % 7};2024-01-${10 + (at % 19)} 10:00:00\r\n`;
}
