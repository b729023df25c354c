import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { sha256Of } from '../../src/base/files/draft.ts';
import { isInstalled } from '../../src/base/files/names.ts';
import { recordPath, recordText } from '../../src/logs/archive/records/record.ts';
import {
  AWKS,
  bundleOf,
  check,
  forgeSums,
  outcomeOf,
  POSIX,
  restate,
  type Shell,
  shellOf,
  shellWithAwk,
  SHELLS,
  FURTHER_SHELLS,
} from '../logs/prove/bundles.ts';
import { archiveToTamper, GAP, Tampering } from '../logs/archive/tampers.ts';
import { temporaryDirectory } from '../support/directory.ts';

/**
 * The result of verify.sh for a tampered bundle, given only the hash of the newest record, or no hash. With the hash of
 * the bundle, it finds every tamper.
 */
type Outcome =
  | 'found'
  /** The output is consistent but differs from before: fewer days, or another newest record. */
  | 'said'
  /** The output stays the same, and says that it does not prove this fact. */
  | 'not proven';

type Tamper = readonly [name: string, withRecord: Outcome, alone: Outcome, harm: (bundle: Tampering) => void];

const SEGMENT = /^tenant=/;
const [TEXT, STATEMENT, SUMS] = ['README.md', 'evidence.json', 'SHA256SUMS'];

function found(name: string, harm: Tamper[3]): Tamper {
  return [name, 'found', 'found', harm];
}

/** Returns a tamper after which evidence.json contradicts the records. */
function states(name: string, change: (statement: Record<string, unknown>) => object): Tamper {
  return found(name, (it) => restate(it, change));
}

/** Returns a tamper after which another time was requested. */
function requests(name: string, outcome: Outcome, change: object): Tamper {
  const harm: Tamper[3] = (it) =>
    restate(it, ({ requested }) => ({ requested: { ...(requested as object), ...change } }));
  return [name, outcome, outcome, harm];
}

/** Changes by somebody who does not repair the list of sums. */
const CHANGES: readonly Tamper[] = [
  found('a byte of a segment', (it) => it.edit(it.file(SEGMENT), (text) => `${text.slice(0, -1)}~`)),
  found('a segment is cut', (it) => fs.truncateSync(it.at(it.file(SEGMENT)), 20)),
  found('a segment is gone', (it) => it.remove(it.file(SEGMENT))),
  found('two segments are swapped', (it) => it.swap(it.file(SEGMENT), it.files(SEGMENT)[4] ?? '')),
  found('a record has changed', (it) => it.edit(recordPath(2), (text) => text.replace('"entries":', '"entries":1'))),
  found('a record is gone', (it) => it.remove(recordPath(2))),
  found('two records are swapped', (it) => it.swap(recordPath(2), recordPath(3))),
  found('the readme has changed', (it) => it.edit(TEXT, (text) => text.replace('What', 'Not what'))),
  found('the readme is gone', (it) => it.remove(TEXT)),
  found('the statement has changed', (it) => it.edit(STATEMENT, (text) => text.replace('"entries"', '"entry"'))),
  found('the statement is gone', (it) => it.remove(STATEMENT)),
  found('the script has changed', (it) => fs.appendFileSync(it.at('verify.sh'), '# more\n')),
  found('a sum is gone', (it) => it.edit(SUMS, (text) => text.slice(text.indexOf('\n') + 1))),
  found('a sum has changed', (it) => it.edit(SUMS, (text) => text.replace(/^.{8}/, '00000000'))),
  found('a sum is of nothing', (it) => fs.appendFileSync(it.at(SUMS), `${'0'.repeat(64)}  notes.txt\n`)),
  found('the sums are gone', (it) => it.remove(SUMS)),
];

/** Files and folders that do not belong to a bundle, added with a repaired list of sums. */
const ADDITIONS: readonly Tamper[] = [
  found('a foreign file', (it) => it.write('notes.txt', 'x')),
  found('a foreign file among the records', (it) => it.write('_manifest/notes.json', '{}')),
  found('the head of the archive', (it) => it.write('_manifest/head.json', '{}')),
  found('a foreign file among the segments', (it) => it.write(`${path.dirname(it.file(SEGMENT))}/x.gz`, 'x')),
  found('a segment twice', (it) => fs.cpSync(it.at(it.file(SEGMENT)), it.at(`${it.file(SEGMENT)}.gz`))),
  found('a hidden file', (it) => it.write('.notes', 'x')),
  found('a hidden file among the records', (it) => it.write('_manifest/.notes', 'x')),
  found('a hidden file among the segments', (it) => it.write(`${path.dirname(it.file(SEGMENT))}/.x`, 'x')),
  found('a hidden folder', (it) => fs.mkdirSync(it.at('.hidden'))),
  found('an empty folder', (it) => fs.mkdirSync(it.at('tenant=x'))),
  found('a folder with a file', (it) => it.write('tenant=x/date=2026-01-01/part-00000001-000000000000.jsonl.gz', 'x')),
  found('a link', (it) => fs.symlinkSync('/etc/hostname', it.at('notes.txt'))),
  found('a segment that is a link', (it) => it.link(it.file(SEGMENT))),
  found('a day that is a link', (it) => it.link(path.dirname(it.file(SEGMENT)))),
  found('records that are a link', (it) => it.link('_manifest')),
  found('a readme that is a link', (it) => it.link(TEXT)),
  found('a pipe', (it) => void execFileSync('mkfifo', [it.at('pipe')])),
  found('a name of two lines', (it) => it.write('x\ny', 'x')),
  found('a folder whose name looks like two files', (it) => it.write('README.md\n./evidence.json', 'x')),
  found('a name of spaces', (it) => it.write(' ', 'x')),
];

/** Changes of the readme and the statement, with a repaired list of sums. */
const STATEMENTS: readonly Tamper[] = [
  found('another readme', (it) => it.edit(TEXT, (text) => text.replace('What', 'Not what'))),
  states('another version', () => ({ version: 2 })),
  states('another service', () => ({ service: 'https://other.example' })),
  states('another tenant', () => ({ tenant_id: 'other' })),
  states('an earlier first day', () => ({ from: '2025-10-01' })),
  states('a later first day', () => ({ from: '2025-11-30' })),
  states('an earlier last day', () => ({ to: '2025-12-31' })),
  states('no first day', () => ({ from: null })),
  states('no requested time', () => ({ requested: undefined })),
  states('a requested time without an end', () => ({ requested: { from: '2025-11-01T00:00:00.000Z', to: null } })),
  requests('a request that begins within a day', 'found', { from: '2025-11-01T01:00:00.000Z' }),
  requests('a request that begins a day later', 'said', { from: '2025-11-02T00:00:00.000Z' }),
  requests('a request that ends a day earlier', 'said', { to: '2026-01-06T00:00:00.000Z' }),
  requests('a request that ends a moment later', 'found', { to: '2026-01-07T00:00:00.001Z' }),
  requests('a request that ends within its last day', 'said', { to: '2026-01-06T12:00:00.000Z' }),
  requests('a request that begins with a dropped month', 'said', { from: '2025-10-01T00:00:00.000Z' }),
  states('another newest record', ({ record }) => ({ record: Number(record) - 1 })),
  states('another newest hash', () => ({ sha256: '0'.repeat(64) })),
  states('fewer records', ({ records }) => ({ records: Number(records) - 1 })),
  states('more segments', ({ segments }) => ({ segments: Number(segments) + 1 })),
  states('more entries', ({ entries }) => ({ entries: Number(entries) + 1 })),
  states('more is covered', () => ({
    covered: [{ from: '2025-11-01T00:00:00.000Z', to: '2026-01-07T00:00:00.000Z' }],
  })),
  states('nothing is covered', () => ({ covered: [] })),
  states('no gap', () => ({ gaps: [] })),
  states('a shorter gap', ({ gaps }) => ({
    gaps: [{ ...(gaps as object[])[0], to: new Date(GAP.from + 1).toISOString() }],
  })),
  states('nothing was dropped', () => ({ dropped: [] })),
  states('somebody else dropped', ({ dropped }) => ({ dropped: [{ ...(dropped as object[])[0], by: 'nobody' }] })),
  states('less was dropped', ({ dropped }) => ({ dropped: [{ ...(dropped as object[])[0], months: [] }] })),
  states('dropped at another time', ({ dropped }) => ({
    dropped: [{ ...(dropped as object[])[0], written_at: 'now' }],
  })),
  states('a member less', () => ({ gaps: undefined })),
  found('a member more', (it) => it.edit(STATEMENT, (text) => text.replace('"from"', '"note": "x",\n  "from"'))),
  ['other counts verified', 'not proven', 'not proven', (it) => restate(it, () => ({ verified: { problems: [] } }))],
  ['a problem more', 'said', 'said', (it) => restate(it, () => ({ verified: { problems: [{ problem: 'missing' }] } }))],
];

/** Changes of days and records, with a repaired list of sums. */
const CONTENTS: readonly Tamper[] = [
  ['a first day less, and all says so', 'said', 'said', (it) => withoutDay(it, 0)],
  ['a last day less, and all says so', 'said', 'said', (it) => withoutDay(it, -1)],
  found('only days that retention dropped', (it) => {
    const dated = it.files(SEGMENT).filter((name) => !name.includes('date=unknown/'));
    const listed = it.records().flatMap((record) => (record.kind === 'segments' ? record.segments : []));
    const gone = listed.filter(({ path: name }) => dated.includes(name));
    it.remove(...new Set(dated.map((name) => path.dirname(name))), 'tenant=other');
    restate(it, ({ dropped, segments, entries }) => {
      const [{ before: to = '' } = {}] = dropped as { readonly before?: string }[];
      const from = new Date(Date.parse(to) - 86_400_000).toISOString();
      return {
        from: to.slice(0, 10),
        to: from.slice(0, 10),
        requested: { from, to },
        segments: Number(segments) - gone.length,
        entries: gone.reduce((left, segment) => left - segment.entries, Number(entries)),
      };
    });
  }),
  found('a first day less', (it) => it.remove(path.dirname(it.file(SEGMENT)))),
  found('a first day less, and the statement begins later', (it) => {
    it.remove(path.dirname(it.file(SEGMENT)));
    restate(it, () => ({ from: daysIn(it)[0] }));
  }),
  found('a day less in between', (it) => it.remove(path.dirname(it.files(SEGMENT)[5] ?? ''))),
  found('entries without a time less', (it) => it.remove(path.dirname(it.file(/date=unknown/)))),
  found('another segment in its place', (it) => fs.cpSync(it.at(it.files(SEGMENT)[4] ?? ''), it.at(it.file(SEGMENT)))),
  found('the first record less', (it) => it.remove(recordPath(0))),
  found('a record less', (it) => it.remove(recordPath(2))),
  found('another record', (it) => it.edit(recordPath(2), (text) => text.replace('"entries":', '"entries":1'))),
  found('records in another order', (it) => it.swap(recordPath(2), recordPath(3))),
  found('a record with a second line', (it) => fs.appendFileSync(it.at(recordPath(7)), '{}\n')),
  found('a chain in which the drop counts less', (it) => it.forge('dropped', () => ({ months: [] }))),
  found('a chain in which the drop takes more', (it) =>
    it.forge('dropped', () => ({ before: '2025-12-01T00:00:00.000Z' })),
  ),
  found('a chain without the drop', (it) => it.chain(it.records().filter(({ kind }) => kind !== 'dropped'))),
  found('a chain that lists a segment twice', (it) => it.forgeSegments((segments) => [...segments, ...segments])),
  found('a chain with a segment elsewhere', (it) => it.forgeSegment(() => ({ path: '../../etc/passwd' }))),
  found('a chain with more entries', (it) => it.forgeSegment(({ entries }) => ({ entries: entries + 1 }))),
  found('a chain with a segment cut in its last bytes, and all says so', (it) => {
    const cut = it.file(SEGMENT);
    fs.truncateSync(it.at(cut), fs.statSync(it.at(cut)).size - 4);
    const sha256 = sha256Of(fs.readFileSync(it.at(cut)));
    it.forgeSegments((segments) => segments.map((each) => (each.path === cut ? { ...each, sha256 } : each)));
    const newest = sha256Of(fs.readFileSync(it.at(it.files(/^_manifest\/\d+\.json$/).at(-1) ?? ''), 'utf8'));
    restate(it, () => ({ sha256: newest }));
  }),
  found('a chain of an unknown kind', (it) =>
    it.chain(it.records(), (record) => recordText(record).replace('"kind":"gap"', '"kind":"none"')),
  ),
  [
    'a chain without its newest record, and all says so',
    'found',
    'said',
    (it) => {
      it.chain(it.records().slice(0, -1));
      const newest = sha256Of(fs.readFileSync(it.at(recordPath(6)), 'utf8'));
      const to = '2026-01-06T00:00:00.000Z';
      restate(it, ({ covered, record, records }) => ({
        record: Number(record) - 1,
        records: Number(records) - 1,
        sha256: newest,
        covered: [...(covered as object[]).slice(0, -1), { ...(covered as object[]).at(-1), to }],
      }));
    },
  ],
];

function daysIn(it: Tampering): string[] {
  const days = new Set(it.files(SEGMENT).flatMap((name) => /date=(\d[^/]+)/.exec(name)?.[1] ?? []));
  return [...days].toSorted();
}

/** Removes a day, and adapts the statement to that. */
function withoutDay(it: Tampering, place: number): void {
  const day = daysIn(it).at(place) ?? '';
  const listed = it.records().flatMap((record) => (record.kind === 'segments' ? record.segments : []));
  const gone = listed.filter(({ path: name }) => name.includes(`date=${day}/`) && it.files(SEGMENT).includes(name));
  it.remove(...new Set(gone.map(({ path: name }) => path.dirname(name))));
  const days = daysIn(it);
  restate(it, ({ segments, entries }) => ({
    from: days[0],
    to: days.at(-1),
    requested: { from: `${days[0]}T00:00:00.000Z`, to: `${days.at(-1)}T23:59:59.999Z` },
    segments: Number(segments) - gone.length,
    entries: gone.reduce((left, segment) => left - segment.entries, Number(entries)),
  }));
}

/** Each with whether the list of sums is repaired. The hash of the bundle is that of the list, so that one repair shows it. */
const GROUPS = [
  ['changed file', CHANGES, false],
  ['thing that was added', ADDITIONS, true],
  ['forged statement', STATEMENTS, true],
  ['forged day and record', CONTENTS, true],
] as const;

/** An honest bundle, and what the script says of it with the hash of the newest record and without one. */
interface Honest {
  readonly top: string;
  readonly sums: string;
  readonly record: string;
  readonly withRecord: string;
  readonly alone: string;
}

let lasting: string;
let made: Promise<Honest> | undefined;
beforeAll(() => {
  lasting = temporaryDirectory();
});

/** Resolves to the bundle that all tests here copy. It is made and checked once. */
function honestBundle(): Promise<Honest> {
  return (made ??= (async () => {
    const { top: first, sums, record } = await bundleOf(await archiveToTamper());
    const top = path.join(lasting, 'evidence');
    fs.cpSync(first, top, { recursive: true });
    const [bySums, byRecord, alone] = [[sums], [record], []].map((hash) => check(POSIX, top, ...hash));
    expect([bySums?.status, byRecord?.status, alone?.status]).toEqual([0, 0, 0]);
    return { top, sums, record, withRecord: byRecord?.stdout ?? '', alone: alone?.stdout ?? '' };
  })());
}

/** Returns a copy of the bundle in which one thing is changed. */
function tampered({ top }: Honest, [, , , harm]: Tamper, isRepaired: boolean): string {
  const it = new Tampering(path.join(temporaryDirectory(), 'evidence'));
  fs.cpSync(top, it.top, { recursive: true });
  harm(it);
  if (isRepaired) forgeSums(it);
  return it.top;
}

describe('the script of an evidence bundle', () => {
  it.each(GROUPS)(
    'R77: the script of an evidence bundle finds each %s with the hash of the bundle',
    async (_, tampers, fits) => {
      const honest = await honestBundle();
      const outcomes: Record<string, readonly string[]> = {};
      const sumsFound: string[] = [];
      for (const [at, tamper] of tampers.entries()) {
        const top = tampered(honest, tamper, fits);
        if (!fits || at === 0) sumsFound.push(outcomeOf(check(POSIX, top, honest.sums), ''));
        const alone = outcomeOf(check(POSIX, top), honest.alone);
        // A hash is one more thing to check, so that it hides nothing that is found without it.
        const isFound = alone === 'found' && at > 0;
        outcomes[tamper[0]] = [isFound ? alone : outcomeOf(check(POSIX, top, honest.record), honest.withRecord), alone];
      }
      expect(new Set(sumsFound)).toEqual(new Set(['found']));
      expect(outcomes).toEqual(
        Object.fromEntries(tampers.map(([name, withRecord, alone]) => [name, [withRecord, alone]])),
      );
    },
  );

  it('R77: the script of an evidence bundle names what was changed, and the days that are not in the bundle', async () => {
    const honest = await honestBundle();
    const changed = tampered(
      honest,
      [
        '',
        'found',
        'found',
        (it) => {
          const [first = '', second = ''] = it.files(SEGMENT);
          it.edit(first, (text) => `${text.slice(0, -1)}~`);
          it.remove(second);
        },
      ],
      false,
    );
    const [first, second] = new Tampering(honest.top).files(SEGMENT);
    const { stderr } = check(POSIX, changed, honest.sums);
    expect(stderr).toContain(`FAILED: ${first} was changed\n`);
    expect(stderr).toContain(`FAILED: ${second} is missing\n`);
    const shorter = tampered(honest, ['', 'said', 'said', (it) => withoutDay(it, 0)], true);
    expect(check(POSIX, shorter, honest.record).stdout).toContain('of other days from 2025-11-01 to 2025-11-01\n');
  });

  for (const command of [...SHELLS.map(([, shell]) => shell), ...FURTHER_SHELLS])
    worksIn(command, () => shellOf(command));
  for (const program of AWKS) worksIn(program, () => shellWithAwk(program));
});

/** Tries the whole bundle and six tampers with the hash of the newest record. */
function worksIn(program: string, shellHere: () => Shell): void {
  const isHere = isInstalled(program, process.env);
  const why = isHere ? '' : ', which is not installed here';
  it.skipIf(!isHere)(`R77: the script of an evidence bundle works with ${program}${why}`, async () => {
    const shell = shellHere();
    const honest = await honestBundle();
    expect(check(shell, honest.top, honest.record)).toEqual({ status: 0, stdout: honest.withRecord, stderr: '' });
    for (const tamper of [...ADDITIONS.slice(17, 19), STATEMENTS[1]!, ...CONTENTS.slice(-3)]) {
      const outcome = outcomeOf(check(shell, tampered(honest, tamper, true), honest.record), honest.withRecord);
      expect([tamper[0], outcome]).toEqual([tamper[0], tamper[1]]);
    }
  });
}
