import { expect, it } from 'vitest';
import { SvcError } from '../../../src/base/errors.ts';
import { comparing, jobAt, pagesOf } from './comparing.ts';

// A job of this key that the ledger does not know, behind later jobs of every kind, in a list to which each refused command
// added one pending job.

const LATER = [0, 1, 98, 99, 100, 101, 199, 200, 399, 400];
const STATUSES = ['pending', 'processing', 'completed'];
/** The creators of later jobs, and whether the ledger knows them. */
const CREATORS = [
  ['ours', 'known'],
  ['theirs', 'other'],
] as const;
const LEDGERS = {
  local: { isShared: false },
  shared: { isShared: true },
  new: { isShared: false, isBegun: false },
  'new shared': { isShared: true, isBegun: false },
};
const REFUSALS = [0, 1, 99, 100, 250];

it.each(Object.entries(LEDGERS))(
  'R74: a %s ledger notices the job that it does not know, however many jobs are newer, however often it was refused',
  async (_, ledger) => {
    const unknown = jobAt('unknown', 0, 'ours', 'completed');
    const job = jobAt('new', 40, 'ours', 'pending');
    let compared = 0;
    for (const count of LATER)
      for (const status of STATUSES)
        for (const [key, id] of CREATORS)
          for (const refusals of REFUSALS) {
            const refused = Array.from({ length: refusals }, (_one, at) =>
              jobAt(`refused-${at}`, 30, 'ours', 'pending'),
            );
            const later = Array.from({ length: count }, (_one, at) => jobAt(`${id}-${at}`, 10, key, status));
            const pages = pagesOf([job, ...refused, ...later, unknown]);
            const found = await comparing(pages, job, ledger).catch((error: unknown) => error);
            const name = `${count} ${status} jobs of ${key}, ${refusals} refusals`;
            expect(found instanceof SvcError ? found.facts?.['unrecorded_jobs'] : found, name).toEqual(['unknown']);
            expect(found instanceof SvcError, name).toBe(ledger.isShared || 'isBegun' in ledger);
            compared += 1;
          }
    expect(compared).toBe(LATER.length * STATUSES.length * CREATORS.length * REFUSALS.length);
  },
);
