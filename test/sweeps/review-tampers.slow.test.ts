import fs from 'node:fs';
import { expect, it } from 'vitest';
import {
  type ArchiveRecord,
  isReview,
  recordPath,
  type ReviewContent,
  type ReviewRecord,
} from '../../src/logs/archive/records/record.ts';
import { expected, outcomes, type Tamper } from '../logs/archive/tamper-outcomes.ts';
import { Tampering } from '../logs/archive/tampers.ts';
import { END, FIRST, NEWEST, reviewedArchive, SECOND } from '../logs/report/reviewed.ts';

/** Changes of what a review says, as text. */
const CHANGES: readonly (readonly [name: string, from: string | RegExp, to: string])[] = [
  ['its note', /"note":"SEC-4\d"/, '"note":"SEC-99"'],
  ['its note is gone', /,"note":"SEC-4\d"/, ''],
  ['who signed', /"by":"\w+"/, '"by":"Eve"'],
  ['the account', '"account":"ana@bastion"', '"account":"eve@bastion"'],
  ['when it was signed', /"written_at":"2026-03-06/, '"written_at":"2026-03-07'],
  ['the day', /"from":"2026-03-0\d","to":"2026-03-0\d"/, '"from":"2026-03-04","to":"2026-03-04"'],
  ['the last day', /"to":"2026-03-0\d"/, '"to":"2026-03-09"'],
  ['the number of findings', '"deletions":2', '"deletions":0'],
  ['what could not be judged', '"new_actors":null', '"new_actors":0'],
  ['the number of entries', /("findings".*)?"entries":\d/, '"entries":9'],
  ['the hash of what was reviewed', '"sha256":"1111', '"sha256":"3333'],
  ['the hash of the page', '"page_sha256":"2222', '"page_sha256":"3333'],
  ['the hash of the page is gone', `"page_sha256":"${'2'.repeat(64)}",`, ''],
  ['the record that was reviewed', /"record":\d/, '"record":1'],
  ['the hash of the record that was reviewed', /"record_sha256":".{8}/, '"record_sha256":"00000000'],
  ['what was reviewed', /"of":"\w+"/, '"of":"other"'],
  ['that it is a review', /"review":\{.*\},"position"/, '"position"'],
];

/** Changes by somebody who does not repair the chain. The next record shows any change of one before it. */
const FILES: readonly Tamper[] = [
  ...CHANGES.map(([name, from, to]): Tamper => [
    name,
    'found',
    (it) => it.edit(recordPath(NEWEST), (text) => text.replace(from, to)),
  ]),
  ['a review is gone', 'found', (it) => it.remove(recordPath(FIRST))],
  ['the newest review is gone', 'found', (it) => it.remove(recordPath(NEWEST))],
  ['two reviews are swapped', 'found', (it) => it.swap(recordPath(FIRST), recordPath(SECOND))],
  ['a review is there twice', 'found', (it) => fs.cpSync(it.at(recordPath(NEWEST)), it.at(recordPath(NEWEST + 1)))],
  ['a review is a link', 'found', (it) => it.link(recordPath(FIRST))],
  ['a review is cut', 'found', (it) => fs.truncateSync(it.at(recordPath(NEWEST)), 200)],
  ['a second line follows a review', 'found', (it) => fs.appendFileSync(it.at(recordPath(NEWEST)), '{}\n')],
];

function reviewAt(it: Tampering, number: number, change: (record: ReviewRecord) => object): void {
  it.forgeAll((record, at) => (at === number && isReview(record) ? change(record) : {}));
}

/** Returns a change of the review in a record, after which all hashes of the chain match again. */
function forged(number: number, name: string, alone: Tamper[1], more: (review: ReviewContent) => object): Tamper {
  const harm: Tamper[2] = (it) => reviewAt(it, number, ({ review }) => ({ review: { ...review, ...more(review) } }));
  return [`${name} in record ${number}`, alone, harm];
}

function withEntries(deletions: number | null, entries: number): Pick<ReviewContent, 'findings' | 'findings_entries'> {
  return { findings: { deletions }, findings_entries: { deletions: entries } };
}

/** Facts that only the person who signed knows: of the newest review, no other record proves them. */
const UNPROVEN = {
  note: 'SEC-99',
  by: 'Eve',
  account: 'eve@bastion',
  findings: { deletions: 0 },
  sha256: '3'.repeat(64),
};

/** Changes by somebody who makes all hashes of the chain match again. */
const FORGERIES: readonly Tamper[] = [
  ...Object.entries(UNPROVEN).flatMap(([name, value]) => [
    forged(FIRST, name, 'found', () => ({ [name]: value })),
    forged(NEWEST, name, 'another hash', () => ({ [name]: value })),
  ]),
  forged(NEWEST, 'another day with other entries', 'found', () => ({ from: '2026-03-02', to: '2026-03-02' })),
  forged(NEWEST, 'a day without entries', 'found', () => ({ from: '2026-03-04', to: '2026-03-04' })),
  forged(NEWEST, 'a day to come', 'found', () => ({ from: '2026-03-05', to: '2026-03-05', entries: 0, missing: [] })),
  forged(NEWEST, 'two days as one', 'found', () => ({ from: '2026-03-02', entries: 5 })),
  forged(NEWEST, 'the first day after the last', 'found', () => ({ from: '2026-03-04', of: 'access', entries: 0 })),
  forged(NEWEST, 'no gap', 'found', () => ({ missing: [] })),
  forged(NEWEST, 'more entries', 'found', ({ entries: count }) => ({ entries: count + 1 })),
  forged(NEWEST, 'fewer entries than groups', 'found', () => withEntries(2, 1)),
  forged(NEWEST, 'findings of more entries than were reviewed', 'found', () => withEntries(2, 9)),
  forged(NEWEST, 'entries of a kind that was not judged', 'found', () => withEntries(null, 1)),
  forged(NEWEST, 'entries of another kind', 'found', () => ({
    findings: { changes: 1 },
    findings_entries: { deletions: 1 },
  })),
  forged(NEWEST, 'entries of findings that earlier versions did not count', 'another hash', () => withEntries(2, 3)),
  forged(NEWEST, 'another record', 'found', () => ({ record: 2 })),
  forged(NEWEST, 'a record to come', 'found', ({ record }) => ({ record: record + 1 })),
  forged(NEWEST, 'another hash of the record', 'found', () => ({ record_sha256: '0'.repeat(64) })),
  [
    'a review before its day was over',
    'found',
    (it) => reviewAt(it, NEWEST, () => ({ written_at: '2026-03-03T23:00:00.000Z' })),
  ],
  ['a review that moves the end', 'found', (it) => reviewAt(it, NEWEST, (record) => ({ read_to: record.written_at }))],
  [
    'a review that changes what comes next',
    'found',
    (it) =>
      it.forgeAll((record, at) => (at === NEWEST ? { position: { ...record.position, passed: [['x', END, 1]] } } : {})),
  ],
  [
    'a review that lists a file',
    'found',
    (it) => {
      const [segment] = it.records().flatMap((record) => (record.kind === 'segments' ? record.segments : []));
      reviewAt(it, NEWEST, () => ({ segments: [segment] }));
    },
  ],
  ['a review in a record of a gap', 'found', (it) => moved(it)],
  ['a review less', 'found', (it) => it.chain(it.records().filter((_, at) => at !== FIRST))],
  ['the newest review less', 'another hash', (it) => it.chain(it.records().slice(0, -1))],
  ['a review twice', 'found', (it) => it.append(contentAt(it.records(), NEWEST))],
  ['an earlier review again', 'found', (it) => it.append(contentAt(it.records(), FIRST))],
  ['a review of another archive', 'found', (it) => it.append(contentAt(others, NEWEST))],
];

/** The records of another archive of the same days. */
let others: readonly ArchiveRecord[] = [];

function contentAt(records: readonly ArchiveRecord[], number: number): object {
  const { position: _, sequence: _1, previous: _2, ...content } = records[number] ?? ({} as ArchiveRecord);
  return content;
}

function moved(it: Tampering): void {
  const review = it.records().flatMap((record) => (isReview(record) ? [record.review] : []))[0];
  it.forgeAll((record) => (record.kind === 'gap' ? { review } : {}));
}

it('R82: svc logs verify finds each change of a file with a review', async () => {
  expect(await outcomes(await reviewedArchive(), FILES)).toEqual(expected(FILES));
});

it('R82: svc logs verify finds each forged review, with the saved hash also those of the newest record', async () => {
  others = new Tampering((await reviewedArchive(1)).top).records();
  expect(await outcomes(await reviewedArchive(), FORGERIES)).toEqual(expected(FORGERIES));
});
