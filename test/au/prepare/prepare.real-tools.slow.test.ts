import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../support/clock.ts';
import { HAS_MARIADB, MariaDb } from '../../support/mariadb.ts';
import { Postgres, POSTGRES_PROGRAMS } from '../../support/postgres.ts';
import { errorIn, succeeded, svcHere } from '../../support/run-here.ts';

const NOW = Date.parse('2026-11-28T12:00:00Z');

interface Card {
  readonly token: string;
  /** Two digits, or empty. */
  readonly yy: string;
  readonly mm: string;
  readonly merchant: string;
}

/** Forty cards, each with an expiration and a merchant. */
const CARDS: readonly Card[] = Array.from({ length: 40 }, (_, at) => ({
  token: `${(0x1e0b7e2f + at * 0x05a1b3c7).toString(16).padStart(8, '0').slice(-8)}-6f0d-4c57-9d0a-${String(at).padStart(12, '0')}`,
  yy: String(27 + (Math.trunc(at / 12) % 4)),
  mm: String(((at + 5) % 12) + 1).padStart(2, '0'),
  merchant: at % 2 === 0 ? 'M-1' : 'M-2',
}));

const isGap = (at: number): boolean => at % 8 === 3;

/** The same cards, as tables differ. */
const VARIANTS = {
  plain: CARDS,
  gaps: CARDS.map((card, at) => (isGap(at) ? { ...card, merchant: '' } : card)),
  numbers: CARDS.map((card, at) => ({ ...card, merchant: `44567890123456${7 + (at % 2)}` })),
  number_gaps: CARDS.map((card, at) => ({ ...card, merchant: isGap(at) ? '' : `44567890123456${7 + (at % 2)}` })),
  called_null: CARDS.map((card, at) => (isGap(at) ? { ...card, merchant: 'NULL' } : card)),
  undated: CARDS.map((card, at) => (at === 3 ? { ...card, yy: '', mm: '' } : card)),
  no_february: CARDS.filter(({ mm }) => mm !== '02'),
} as const;

type Variant = keyof typeof VARIANTS;

function lastDay({ yy, mm }: Card): string {
  return new Date(Date.UTC(2000 + Number(yy), Number(mm), 0)).toISOString().slice(0, 10);
}

function csv(header: string, variant: Variant, cells: (card: Card) => readonly string[]): string {
  return [header, ...VARIANTS[variant].map((card) => cells(card).join(','))].map((line) => `${line}\n`).join('');
}

const WHOLE = 'token,expiration,merchant_id';
const onCard = ({ token, yy, mm, merchant }: Card) => [token, `${mm}/${yy}`, merchant];
const inTwo = ({ token, yy, mm, merchant }: Card) => [token, yy && `20${yy}`, mm && String(Number(mm)), merchant];

const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');

/** The tables that the tools read. */
const SOURCES: Readonly<Record<string, string>> = {
  card: csv(WHOLE, 'plain', onCard),
  gaps: csv(WHOLE, 'gaps', onCard),
  numbers: csv(WHOLE, 'numbers', onCard),
  number_gaps: csv(WHOLE, 'number_gaps', onCard),
  date: csv(WHOLE, 'plain', (card) => [card.token, lastDay(card), card.merchant]),
  point: csv(WHOLE, 'plain', ({ token, yy, mm, merchant }) => [token, `20${yy}.${mm}`, merchant]),
  two: csv('token,exp_year,exp_month,merchant_id', 'plain', inTwo),
  two_undated: csv('token,exp_year,exp_month,merchant_id', 'undated', inTwo),
  names: csv(WHOLE, 'no_february', ({ token, yy, mm, merchant }) => [
    token,
    `${MONTHS[Number(mm) - 1]} ${yy}`,
    merchant,
  ]),
  day_first: csv(WHOLE, 'no_february', ({ token, yy, mm, merchant }) => [token, `30/${mm}/${yy}`, merchant]),
};

interface Expected {
  /** The rows that are right. */
  readonly rows: Variant;
  /** Words of the refusal; undefined where the rows are right without a question. */
  readonly refusal?: string;
  /** Options that answer the question, with which the rows are right. */
  readonly answer?: readonly string[];
}

const right = (rows: Variant = 'plain'): Expected => ({ rows });
const stops = (refusal: string, rows: Variant = 'plain', ...answer: readonly string[]): Expected =>
  answer.length === 0 ? { rows, refusal } : { rows, refusal, answer };

const MIDDLE = 'in the middle of a month';
const LOST_ZERO = 'one digit behind a point';
const CHANGED = 'export the column as text';

interface Tool {
  readonly name: string;
  readonly isThere: boolean;
  /** Writes the files, and returns them. */
  readonly write: (directory: string) => Record<string, Expected> | Promise<Record<string, Expected>>;
}

function has(program: string, ...argv: readonly string[]): boolean {
  return spawnSync(program, argv, { stdio: 'ignore' }).status === 0;
}

function shell(directory: string, script: string): void {
  execFileSync('sh', ['-ec', script], { cwd: directory, stdio: ['ignore', 'pipe', 'pipe'] });
}

/** Writes a file for each source by a command, in which `$in` and `$out` are the two files. */
function each(directory: string, of: Readonly<Record<string, Expected>>, prefix: string, command: string) {
  for (const source of Object.keys(of))
    shell(directory, `in=source/${source}.csv; out=${prefix}-${source}.csv; ${command}`);
  return Object.fromEntries(Object.entries(of).map(([source, expected]) => [`${prefix}-${source}.csv`, expected]));
}

const GOOD = { card: right(), gaps: right('gaps'), date: right(), two: right(), point: right() };

function sqlite(directory: string): Record<string, Expected> {
  for (const source of ['card', 'gaps', 'date', 'two'])
    shell(directory, `sqlite3 ${source}.db '.mode csv' '.import source/${source}.csv t'`);
  shell(directory, `sqlite3 gaps.db "update t set merchant_id = null where merchant_id = ''"`);
  const { point: _, ...sources } = GOOD;
  const by = (prefix: string, options: string, of: Readonly<Record<string, Expected>> = sources) =>
    each(directory, of, prefix, `sqlite3 -header ${options} "$(basename $in .csv).db" 'select * from t' > $out`);
  return {
    ...by('csv', '-csv'),
    ...by('tabs', '-tabs'),
    ...by('bars', '-list'),
    ...by('null', '-csv -nullvalue NULL', { gaps: stops('NULL', 'gaps', '--empty', 'NULL') }),
    ...by('quote', '-quote', { card: right(), date: right(), gaps: right('gaps') }),
  };
}

const PYTHON = `
import csv, datetime, uuid
rows = list(csv.DictReader(open('source/gaps.csv')))
head = list(rows[0])
def write(name, token=str, date=str, merchant=str, **options):
    with open(name + '.csv', 'w', newline='') as file:
        writer = csv.writer(file, **options)
        writer.writerow(head)
        writer.writerows([token(r['token']), date(r['expiration']), merchant(r['merchant_id'])] for r in rows)
none = lambda m: m or None
first = lambda d: datetime.datetime.strptime('01/' + d, '%d/%m/%y')
write('minimal')
write('all', quoting=csv.QUOTE_ALL)
write('texts', quoting=csv.QUOTE_NONNUMERIC, date=first, merchant=none)
write('tabs', dialect='excel-tab', merchant=none)
write('dates', date=lambda d: first(d).date())
write('times', date=lambda d: first(d).isoformat())
write('none', merchant=lambda m: str(none(m)))
write('urn', token=lambda t: uuid.UUID(t).urn)
write('braces', token=lambda t: '{' + t + '}')
write('formula', token=lambda t: '="' + t + '"')
write('apostrophe', token=lambda t: "'" + t)
write('quotes', token=repr)
write('float', token=lambda t: float(int(t[-4:]) + 1) * 1e20)
`;

const PERL = String.raw`
use Text::CSV_XS;
my $rows = Text::CSV_XS::csv(in => 'source/gaps.csv');
sub copied { map { [map { $_ } @$_] } @$rows }
sub write_as { my ($name, $rows, %how) = @_; Text::CSV_XS::csv(in => $rows, out => "$name.csv", %how) }
write_as('usual', [copied()]);
write_as('all', [copied()], always_quote => 1);
write_as('tabs', [copied()], sep_char => "\t");
write_as('bars', [copied()], sep_char => '|', quote_char => undef, escape_char => undef);
write_as('dos', [copied()], eol => "\r\n");
my @none = copied();
$_->[2] = length($_->[2]) ? $_->[2] : undef for @none;
write_as('undefined', \@none, quote_empty => 1);
write_as('null', \@none, undef_str => 'NULL');
write_as('backslash', \@none, undef_str => '\N');
my @formula = copied();
$_->[0] = "=\"$_->[0]\"" for @formula[1 .. $#formula];
write_as('formula', \@formula);
`;

function perl(directory: string): Record<string, Expected> {
  execFileSync('perl', ['-e', PERL], { cwd: directory, stdio: 'pipe' });
  const names = ['usual', 'all', 'tabs', 'bars', 'dos', 'undefined', 'backslash', 'formula'];
  return {
    ...Object.fromEntries(names.map((name) => [`${name}.csv`, right('gaps')])),
    'null.csv': stops('NULL', 'gaps', '--empty', 'NULL'),
  };
}

async function duckDb(directory: string): Promise<Record<string, Expected>> {
  const { DuckDBInstance } = await import('@duckdb/node-api');
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  const copy = (query: string, name: string, options = '') =>
    connection.run(`copy (${query}) to '${join(directory, name)}.csv' (header${options})`);
  const read = (source: string, options = '') =>
    `select * from read_csv('${join(directory, 'source', source)}.csv'${options})`;
  for (const source of ['card', 'gaps', 'numbers', 'number_gaps', 'date', 'point', 'two', 'two_undated'])
    await copy(read(source), source);
  await copy(read('day_first'), 'day_first');
  await copy(read('gaps'), 'quoted', ', force_quote *');
  await copy(read('gaps'), 'bars', ", delimiter '|'");
  await copy(read('gaps'), 'null', ", nullstr 'NULL'");
  await copy(read('gaps'), 'backslash', ", nullstr '\\N'");
  await copy(
    `select token, strptime('01/' || expiration, '%d/%m/%y') as expiration, merchant_id from (${read('card', ', all_varchar = true')})`,
    'times',
  );
  connection.closeSync();
  instance.closeSync();
  return {
    'card.csv': right(),
    'gaps.csv': right('gaps'),
    'numbers.csv': right('numbers'),
    'number_gaps.csv': right('number_gaps'),
    'date.csv': right(),
    'point.csv': stops(LOST_ZERO),
    'two.csv': right(),
    'two_undated.csv': right('undated'),
    'day_first.csv': stops(MIDDLE, 'no_february'),
    'quoted.csv': right('gaps'),
    'bars.csv': right('gaps'),
    'null.csv': stops('NULL', 'gaps', '--empty', 'NULL'),
    'backslash.csv': right('gaps'),
    'times.csv': right(),
  };
}

/** ClickHouse as a package, which .ci/packages installs. */
function loadClickHouse(): { query: (sql: string, format: string) => string } | undefined {
  try {
    return createRequire(new URL('../../../.cache/ci/clickhouse/', import.meta.url))('chdb') as ReturnType<
      typeof loadClickHouse
    >;
  } catch {
    return undefined;
  }
}

const clickHouse = loadClickHouse();

function byClickHouse(directory: string): Record<string, Expected> {
  const write = (name: string, format: string, columns: string) => {
    const from = `file('${join(directory, 'source/gaps.csv')}', 'CSVWithNames', 'token String, expiration String, merchant_id String')`;
    writeFileSync(join(directory, name), clickHouse?.query(`select ${columns} from ${from}`, format) ?? '');
  };
  const nulls = "nullIf(merchant_id, '') as merchant_id";
  const month = "toDate(parseDateTime(concat('01/', expiration), '%d/%m/%y')) as expiration";
  write('csv.csv', 'CSVWithNames', `token, expiration, ${nulls}`);
  write('tabs.tsv', 'TSVWithNames', `token, expiration, ${nulls}`);
  write('uuid.csv', 'CSVWithNames', `toUUID(token) as token, expiration, ${nulls}`);
  write('types.csv', 'CSVWithNamesAndTypes', `token, expiration, merchant_id`);
  write('first.csv', 'CSVWithNames', `token, ${month}, ${nulls}`);
  write('last.tsv', 'TSVWithNames', `token, toLastDayOfMonth(${month.split(' as ')[0]}) as expiration, ${nulls}`);
  write('strings.csv', 'CSVWithNames', `token, expiration, ifNull(${nulls.split(' as ')[0]}, 'NULL') as merchant_id`);
  return {
    'csv.csv': right('gaps'),
    'tabs.tsv': right('gaps'),
    'uuid.csv': right('gaps'),
    'types.csv': stops('not a month and a year', 'gaps'),
    'first.csv': right('gaps'),
    'last.tsv': right('gaps'),
    'strings.csv': right('called_null'),
  };
}

async function postgres(directory: string): Promise<Record<string, Expected>> {
  const server = await Postgres.start();
  try {
    const values = VARIANTS.gaps.map(
      (card) =>
        `('${card.token}', '${card.mm}/${card.yy}', nullif('${card.merchant}', ''), '${lastDay(card)}', make_timestamptz(20${card.yy}, ${card.mm}, 1, 0, 0, 0, 'Europe/Berlin'))`,
    );
    await server.lines(
      `CREATE TABLE cards (token uuid, expiration text, merchant_id text, day date, start timestamptz); INSERT INTO cards VALUES ${values.join(', ')}`,
    );
    const write = async (name: string, input: string, ...argv: readonly string[]) => {
      const { stdout } = succeeded(await server.run(input, '--pset=tuples_only=off', ...argv));
      writeFileSync(join(directory, name), stdout);
    };
    const select = 'SELECT token, expiration, merchant_id FROM cards';
    await write('copy.csv', `COPY (${select}) TO STDOUT (FORMAT csv, HEADER)`);
    await write('copy-quoted.csv', `COPY (${select}) TO STDOUT (FORMAT csv, HEADER, FORCE_QUOTE *)`);
    await write('copy-null.csv', `COPY (${select}) TO STDOUT (FORMAT csv, HEADER, NULL 'NULL')`);
    await write('copy-text.tsv', `COPY (${select}) TO STDOUT (HEADER)`);
    await write(
      'copy-date.csv',
      `COPY (SELECT token, day AS expiration, merchant_id FROM cards) TO STDOUT (FORMAT csv, HEADER)`,
    );
    await write('psql.csv', select, '--csv');
    await write('psql-unaligned.txt', select);
    await write('psql-null.csv', select, '--csv', '--pset=null=NULL');
    await write('psql-mark.csv', select, '--csv', '--pset=null=(null)');
    const times = 'SELECT token, start AS expiration, merchant_id FROM cards';
    await write('zone-utc.csv', `SET timezone TO 'UTC'; ${times}`, '--csv');
    await write('zone-berlin.csv', `SET timezone TO 'Europe/Berlin'; ${times}`, '--csv');
  } finally {
    await server.stop();
  }
  return {
    'copy.csv': right('gaps'),
    'copy-quoted.csv': right('gaps'),
    'copy-null.csv': stops('NULL', 'gaps', '--empty', 'NULL'),
    'copy-text.tsv': right('gaps'),
    'copy-date.csv': right('gaps'),
    'psql.csv': right('gaps'),
    'psql-unaligned.txt': right('gaps'),
    'psql-null.csv': stops('NULL', 'gaps', '--empty', 'NULL'),
    'psql-mark.csv': right('gaps'),
    'zone-utc.csv': stops('have a zone', 'gaps', '--date-zone', 'Europe/Berlin'),
    'zone-berlin.csv': right('gaps'),
  };
}

async function mariaDb(directory: string): Promise<Record<string, Expected>> {
  const server = await MariaDb.start();
  try {
    const values = VARIANTS.gaps.map(
      (card) => `('${card.token}', '${card.mm}/${card.yy}', nullif('${card.merchant}', ''), '${lastDay(card)}')`,
    );
    server.run(
      `CREATE TABLE cards (token char(36), expiration text, merchant_id text, day date); INSERT INTO cards VALUES ${values.join(', ')};`,
    );
    const batch = (name: string, columns: string) =>
      writeFileSync(join(directory, name), server.run(`SELECT ${columns} FROM cards;`, '--batch').stdout);
    batch('batch.tsv', 'token, expiration, merchant_id');
    batch('batch-filled.tsv', "token, expiration, ifnull(merchant_id, '') AS merchant_id");
    batch('batch-date.tsv', "token, day AS expiration, ifnull(merchant_id, '') AS merchant_id");
    const outfile = (name: string, options: string) => {
      const head = "SELECT 'token', 'expiration', 'merchant_id' UNION ALL SELECT token, expiration, merchant_id";
      const { status, stderr } = server.run(`${head} FROM cards INTO OUTFILE '${join(directory, name)}' ${options};`);
      expect(status, stderr).toBe(0);
    };
    outfile('outfile.tsv', '');
    outfile('outfile.csv', "FIELDS TERMINATED BY ','");
    outfile('outfile-quoted.csv', `FIELDS TERMINATED BY ',' ENCLOSED BY '"'`);
    outfile('outfile-escaped.csv', `FIELDS TERMINATED BY ',' ENCLOSED BY '"' ESCAPED BY '"'`);
  } finally {
    await server.stop();
  }
  return {
    'batch.tsv': stops('NULL', 'gaps', '--empty', 'NULL'),
    'batch-filled.tsv': right('gaps'),
    'batch-date.tsv': right('gaps'),
    'outfile.tsv': right('gaps'),
    'outfile.csv': right('gaps'),
    'outfile-quoted.csv': right('gaps'),
    'outfile-escaped.csv': stops('NULL as an empty cell', 'gaps'),
  };
}

const R = `
for (name in c('card', 'gaps', 'date', 'two', 'point', 'numbers', 'number_gaps', 'two_undated')) {
  from <- paste0('source/', name, '.csv')
  write.csv(read.csv(from), paste0('r-', name, '.csv'), row.names = FALSE)
  write.csv(read.csv(from, na.strings = ''), paste0('na-', name, '.csv'), row.names = FALSE)
  write.csv(read.csv(from, na.strings = ''), paste0('bare-', name, '.csv'), row.names = FALSE, quote = FALSE)
  write.csv(read.csv(from, colClasses = 'character'), paste0('text-', name, '.csv'), row.names = FALSE)
}
`;

const PANDAS = `
import pandas as p
for name in ['card', 'gaps', 'date', 'two', 'point', 'numbers', 'number_gaps', 'two_undated']:
    source = 'source/' + name + '.csv'
    p.read_csv(source).to_csv('pandas-' + name + '.csv', index=False)
    p.read_csv(source).to_csv('na-' + name + '.csv', index=False, na_rep='NA')
    p.read_csv(source, dtype=str, keep_default_na=False).to_csv('text-' + name + '.csv', index=False)
    p.read_csv(source, dtype=str).astype(str).to_csv('nan-' + name + '.csv', index=False)
`;
import { temporaryDirectory } from '../../support/directory.ts';

function named(prefix: string, of: Readonly<Record<string, Expected>>): Record<string, Expected> {
  return Object.fromEntries(Object.entries(of).map(([name, expected]) => [`${prefix}-${name}.csv`, expected]));
}

const AS_TEXT = {
  ...GOOD,
  numbers: right('numbers'),
  number_gaps: right('number_gaps'),
  two_undated: right('undated'),
};

const TOOLS: readonly Tool[] = [
  { name: 'exports by SQLite', isThere: has('sqlite3', '--version'), write: sqlite },
  {
    name: "exports by Python's csv",
    isThere: has('python3', '--version'),
    write(directory) {
      execFileSync('python3', ['-c', PYTHON], { cwd: directory, stdio: 'pipe' });
      const names = [
        'minimal',
        'all',
        'texts',
        'tabs',
        'dates',
        'times',
        'urn',
        'braces',
        'formula',
        'apostrophe',
        'quotes',
      ];
      return {
        ...Object.fromEntries(names.map((name) => [`${name}.csv`, right('gaps')])),
        'none.csv': stops('None', 'gaps', '--empty', 'None'),
        'float.csv': stops(CHANGED),
      };
    },
  },
  { name: "exports by Perl's Text::CSV_XS", isThere: has('perl', '-MText::CSV_XS', '-e', '1'), write: perl },
  {
    name: 'exports by JavaScript',
    isThere: true,
    write(directory) {
      const rows = VARIANTS.gaps.map(({ token, yy, mm, merchant }) => [
        token,
        Number(yy),
        Number(mm),
        merchant || undefined,
      ]);
      const script = `const rows = ${JSON.stringify(rows)};
        const write = (date, merchant) => ['${WHOLE}', ...rows.map(([t, y, m, id]) => [t, date(y, m), merchant(id)].join(','))].join('\\n') + '\\n';
        const local = (y, m) => new Date(2000 + y, m - 1, 1).toJSON();
        const utc = (y, m) => new Date(Date.UTC(2000 + y, m - 1, 1)).toJSON();
        const fs = require('node:fs');
        fs.writeFileSync('local.csv', write(local, (id) => id ?? ''));
        fs.writeFileSync('utc.csv', write(utc, (id) => id ?? ''));
        fs.writeFileSync('null.csv', write(utc, (id) => String(id ?? null)));
        fs.writeFileSync('undefined.csv', write(utc, (id) => String(id ?? undefined)));`;
      const env = { ...process.env, TZ: 'Europe/Berlin' };
      execFileSync(process.execPath, ['-e', script], { cwd: directory, env, stdio: 'pipe' });
      return {
        'local.csv': stops('have a zone', 'gaps', '--date-zone', 'Europe/Berlin'),
        'utc.csv': right('gaps'),
        'null.csv': stops('null', 'gaps', '--empty', 'null'),
        'undefined.csv': stops('undefined', 'gaps', '--empty', 'undefined'),
      };
    },
  },
  { name: 'exports by DuckDB', isThere: true, write: duckDb },
  { name: 'exports by ClickHouse', isThere: clickHouse !== undefined, write: byClickHouse },
  { name: 'exports by PostgreSQL', isThere: POSTGRES_PROGRAMS !== undefined, write: postgres },
  { name: 'exports by MariaDB', isThere: HAS_MARIADB, write: mariaDb },
  {
    name: 'exports by Miller',
    isThere: has('mlr', '--version'),
    write: (directory) => ({
      ...each(directory, AS_TEXT, 'csv', 'mlr --csv cat $in > $out'),
      ...each(directory, AS_TEXT, 'tsv', 'mlr --icsv --otsv cat $in > $out'),
      ...each(directory, { two_undated: right('undated') }, 'quoted', 'mlr --csv --quote-original cat $in > $out'),
    }),
  },
  {
    name: 'exports by csvkit',
    isThere: has('csvformat', '--version'),
    write: (directory) => ({
      ...each(directory, { gaps: right('gaps') }, 'csvformat', 'csvformat -U 1 $in > $out'),
      ...each(directory, { gaps: right('gaps'), point: right() }, 'text', 'in2csv -I -f csv $in > $out'),
      ...each(directory, AS_TEXT, 'in2csv', 'in2csv -f csv $in > $out'),
      ...each(
        directory,
        { day_first: stops('date_order', 'no_february', '--date-order', 'dmy') },
        'days',
        'in2csv -f csv $in > $out',
      ),
      // These are days of the year 1.
      ...each(directory, { names: stops('not a month and a year', 'no_february') }, 'days', 'in2csv -f csv $in > $out'),
    }),
  },
  {
    name: 'exports by R',
    isThere: has('Rscript', '--version'),
    write(directory) {
      execFileSync('Rscript', ['-e', R], { cwd: directory, stdio: 'pipe' });
      const unclear = {
        gaps: stops('NA', 'gaps', '--empty', 'NA'),
        number_gaps: stops('NA', 'number_gaps', '--empty', 'NA'),
      };
      const point = { point: stops(LOST_ZERO) };
      return {
        ...named('text', AS_TEXT),
        ...named('r', { ...AS_TEXT, ...point, number_gaps: unclear.number_gaps }),
        ...named('na', { ...AS_TEXT, ...point, number_gaps: unclear.number_gaps }),
        ...named('bare', { ...AS_TEXT, ...point, ...unclear }),
      };
    },
  },
  {
    name: 'exports by pandas',
    isThere: has('/usr/bin/python3', '-c', 'import pandas'),
    write(directory) {
      execFileSync('/usr/bin/python3', ['-c', PANDAS], { cwd: directory, stdio: 'pipe' });
      const changed = { point: stops(LOST_ZERO), number_gaps: stops(CHANGED) };
      return {
        ...named('text', AS_TEXT),
        ...named('pandas', { ...AS_TEXT, ...changed }),
        ...named('na', { ...AS_TEXT, ...changed, gaps: stops('NA', 'gaps', '--empty', 'NA') }),
        ...named('nan', {
          ...AS_TEXT,
          gaps: stops('nan', 'gaps', '--empty', 'nan'),
          number_gaps: stops('nan', 'number_gaps', '--empty', 'nan'),
        }),
      };
    },
  },
  {
    name: 'exports by Gnumeric',
    isThere: has('ssconvert', '--version'),
    write: (directory) =>
      each(
        directory,
        {
          date: right(),
          two: right(),
          two_undated: right('undated'),
          card: stops(MIDDLE),
          gaps: stops(MIDDLE, 'gaps'),
          numbers: stops(MIDDLE, 'numbers'),
          point: stops(LOST_ZERO),
        },
        'gnumeric',
        'ssconvert $in $out',
      ),
  },
];

/** Returns what became of a file: `right`, the refusal, or the first wrong row. */
async function outcome(directory: string, name: string, expected: Expected, options: readonly string[] = []) {
  const home = join(directory, 'home');
  const clock = new FakeClock({ start: NOW });
  const result = await svcHere(['au', 'prepare', name, ...options], { cwd: directory, home, clock });
  if (result.code !== 0) {
    if (result.code !== 13 || result.stdout !== '') return `exit code ${result.code}: ${result.stdout}${result.stderr}`;
    const refusal = JSON.stringify(errorIn(result));
    return expected.refusal !== undefined && refusal.includes(expected.refusal) ? 'stopped' : refusal;
  }
  const rows = result.stdout.trimEnd().split('\n').slice(1);
  const truth = VARIANTS[expected.rows].map(({ token, yy, mm, merchant }) => `${token},${yy},${mm},${merchant}`);
  const wrong = rows.findIndex((row, at) => row !== truth[at]);
  if (wrong === -1 && rows.length === truth.length) return 'right';
  return `WRONG: ${rows[wrong] ?? `${rows.length} rows`} in place of ${truth[wrong] ?? `${truth.length} rows`}`;
}

describe('exports of real tools', () => {
  for (const { name, isThere, write } of TOOLS) {
    it.skipIf(!isThere)(
      `${name} are prepared with the right rows, or refused${isThere ? '' : ' (skipped: it is not installed)'}`,
      async () => {
        const directory = temporaryDirectory();
        for (const each of ['source', 'home']) mkdirSync(join(directory, each));
        for (const [source, text] of Object.entries(SOURCES))
          writeFileSync(join(directory, 'source', `${source}.csv`), text);
        const files = Object.entries(await write(directory));
        const seen: Record<string, string> = {};
        const wanted: Record<string, string> = {};
        for (const [file, expected] of files) {
          wanted[file] = expected.refusal === undefined ? 'right' : 'stopped';
          seen[file] = await outcome(directory, file, expected);
          if (expected.answer === undefined) continue;
          const answered = [file, ...expected.answer].join(' ');
          wanted[answered] = 'right';
          seen[answered] = await outcome(directory, file, expected, expected.answer);
        }
        expect(seen).toEqual(wanted);
      },
    );
  }
});
