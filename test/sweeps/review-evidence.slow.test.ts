import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { recordPath } from '../../src/logs/archive/records/record.ts';
import { buildArchive } from '../logs/archive/build.ts';
import {
  bundleOf,
  check,
  forgeSums,
  outcomeOf,
  POSIX,
  restate,
  type Shell,
  shellOf,
  SHELLS,
} from '../logs/prove/bundles.ts';
import { FIRST, NEWEST, reviewedArchive } from '../logs/report/reviewed.ts';
import { Tampering } from '../logs/archive/tampers.ts';
import { FakeClock } from '../support/clock.ts';
import { svcHere } from '../support/run-here.ts';
import { temporaryDirectory } from '../support/directory.ts';

/** A tamper of a bundle, and what the script says of it with the hash of the newest record, and without a hash. */
type Tamper = readonly [name: string, withRecord: string, alone: string, harm: (bundle: Tampering) => void];

interface Stated {
  readonly reviews: readonly object[];
  readonly clock: readonly object[];
}

/** Returns a tamper after which evidence.json contradicts the records. */
function states(name: string, change: (statement: Stated) => object): Tamper {
  return [name, 'found', 'found', (it) => restate(it, (said) => change(said as unknown as Stated))];
}

const TAMPERS: readonly Tamper[] = [
  states('no reviews', () => ({ reviews: [] })),
  states('a review less', ({ reviews }) => ({ reviews: reviews.slice(1) })),
  states('a review twice', ({ reviews }) => ({ reviews: [...reviews, ...reviews.slice(-1)] })),
  ...['note', 'by', 'account', 'written_at', 'from', 'to', 'sha256', 'page_sha256', 'record_sha256'].map((member) =>
    states(`another ${member}`, ({ reviews }) => ({
      reviews: reviews.map((review) => Object.assign({}, review, { [member]: '2026-03-09' })),
    })),
  ),
  ...['number', 'entries', 'record'].map((member) =>
    states(`another ${member}`, ({ reviews }) => ({
      reviews: reviews.map((review) => Object.assign({}, review, { [member]: 9 })),
    })),
  ),
  states('other findings', ({ reviews }) => ({
    reviews: reviews.map((review) => Object.assign({}, review, { findings: {} })),
  })),
  states('no gap in a review', ({ reviews }) => ({
    reviews: reviews.map((review) => Object.assign({}, review, { missing: [] })),
  })),
  states('a clock that was right', () => ({ clock: [] })),
  states('another clock', ({ clock }) => ({ clock: clock.map((one) => Object.assign({}, one, { most_ms: 3_000 })) })),
  [
    'a changed record',
    'found',
    'found',
    (it) => it.edit(recordPath(FIRST), (text) => text.replace('SEC-41', 'SEC-99')),
  ],
  [
    'a review of other entries',
    'found',
    'found',
    (it) => it.forgeAll((record, at) => (at === NEWEST ? withReview(record, { entries: 9 }) : {})),
  ],
  [
    'a review of another record',
    'found',
    'found',
    (it) => it.forgeAll((record, at) => (at === NEWEST ? withReview(record, { record: 2 }) : {})),
  ],
  [
    'another page',
    'not proven',
    'not proven',
    (it) => it.edit('report.html', (text) => text.replace('reviewed', 'ok')),
  ],
  ['other rows of actors', 'not proven', 'not proven', (it) => fs.appendFileSync(it.at('access.csv'), 'x\n')],
  ['no page', 'found', 'found', (it) => it.remove('report.html')],
];

function withReview(record: object, more: object): object {
  return 'review' in record ? { review: { ...(record.review as object), ...more } } : {};
}

describe('the script of an evidence bundle with reviews', () => {
  const here = SHELLS.map(([, command]) => command).filter(
    (command) => spawnSync(command, ['-c', ':']).error === undefined,
  );
  for (const [name, command] of SHELLS) {
    const isHere = here.includes(command);
    // Another shell can only differ in what test/sweeps/evidence-tampers.slow.test.ts tries in each.
    const isFirst = command === here[0];
    const tampers = isFirst ? TAMPERS : TAMPERS.slice(-6);
    const why = isHere ? '' : ', which is not installed here';
    it.skipIf(!isHere)(
      `R82: the script of an evidence bundle finds ${isFirst ? 'each change' : 'changes'} of a review in ${name}${why}`,
      async () => {
        const shell = shellOf(command);
        const { top, sums, record } = await bundleOf(await reviewedArchive());
        const honest = { record: check(shell, top, record).stdout, alone: check(shell, top).stdout };
        expect(check(shell, top, sums)).toEqual(check(POSIX, top, sums));
        expect(check(shell, top, sums).stderr).toBe('');
        expect(honest.record).toContain(
          'Review (day) of 2026-03-03: signed off by Bo at 2026-03-06T00:00:00.000Z\nClock: the archiving machine was up to 5000 ms behind the service in 1 records\n',
        );
        const outcomes: Record<string, readonly string[]> = {};
        for (const [what, , , harm] of tampers) {
          const it = new Tampering(path.join(temporaryDirectory(), 'evidence'));
          fs.cpSync(top, it.top, { recursive: true });
          harm(it);
          forgeSums(it);
          outcomes[what] = outcomesIn(shell, it.top, { sums, record, honest });
        }
        const due = tampers.map(([what, withRecord, alone]) => [what, ['found', withRecord, alone]]);
        expect(outcomes).toEqual(Object.fromEntries(due));
      },
    );
  }

  it('R82: a review with any note and name is proven by the script of the bundle', async () => {
    const start = Date.UTC(2026, 2, 1);
    const { top } = await buildArchive(start, [{ to: start + 86_400_000 }, { to: start + 2 * 86_400_000 }]);
    const clock = new FakeClock({ start: start + 3 * 86_400_000 });
    const notes = [
      '"quoted": and \\ "position":{ é 日本',
      '\\":',
      'ends with \\',
      '"review":{"of":"day"}',
      '", "by": "Eve"',
      "it's $(x) `y` & z",
    ];
    for (const note of notes) {
      const argv = ['--day', '2026-03-01', '--sign-off', '--note', note, '--by', note];
      expect((await svcHere(['logs', 'review', top, ...argv], { clock })).code).toBe(0);
    }
    expect((await svcHere(['logs', 'verify', top])).code).toBe(0);
    const bundle = await bundleOf({ top });
    const { status, stderr } = check(POSIX, bundle.top, bundle.record);
    expect([status, stderr]).toEqual([0, '']);
    const { reviews } = JSON.parse(fs.readFileSync(path.join(bundle.top, 'evidence.json'), 'utf8')) as {
      reviews: { note: string; by: string }[];
    };
    expect(reviews.map(({ note, by }) => [note, by])).toEqual(notes.map((note) => [note, note]));
  });
});

interface Honest {
  readonly sums: string;
  readonly record: string;
  readonly honest: Readonly<Record<'record' | 'alone', string>>;
}

function outcomesIn(shell: Shell, top: string, { sums, record, honest }: Honest): string[] {
  return [
    outcomeOf(check(shell, top, sums), ''),
    outcomeOf(check(shell, top, record), honest.record),
    outcomeOf(check(shell, top), honest.alone),
  ];
}
