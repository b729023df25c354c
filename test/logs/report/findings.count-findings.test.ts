import { expect, it } from 'vitest';
import { bucketOf } from '../../../src/logs/count.ts';
import { countFindings, findingsText } from '../../../src/logs/report/findings.ts';
import { ChangeCounts } from '../../../src/logs/report/review.ts';

function deletionsText(actors: number, times = 1): string {
  const changes = new ChangeCounts();
  for (let index = 0; index < actors * times; index += 1)
    changes.add({ operation: 'delete', created_at: '', actor_id: `actor ${index % actors}` }, bucketOf(index));
  return findingsText(countFindings({ ...changes.rows(), new_actors: null, new_operations: null }));
}

it.each([
  [1_000, 1, 'deletions 1,000'],
  [1_000, 2, 'deletions 2,000 in 1,000 groups'],
  [1_001, 1, 'deletions 1,001 in more than 1,000 groups'],
  [2_502, 1, 'deletions 2,502 in more than 1,000 groups'],
])(
  'a review of deletions by %i actors, %i each, states no number of groups that it did not count',
  (actors, each, words) => {
    expect(deletionsText(actors, each)).toBe(`${words}, changes 0, new actors unknown, new operations unknown`);
  },
);
