import { expect, it } from 'vitest';
import { Coverage, isoRange } from '../../../src/logs/archive/records/coverage.ts';
import { DayReview } from '../../../src/logs/report/review.ts';

const DAY = 24 * 3_600_000;
const TODAY = Date.UTC(2026, 1, 10);

it('the review calls nothing new when there is too much to compare', () => {
  const coverage = new Coverage();
  const { from: read_from, to: read_to } = isoRange({ from: TODAY - 40 * DAY, to: TODAY + DAY });
  coverage.add({ kind: 'segments', written_at: read_to, segments: [], read_from, read_to });
  const review = new DayReview(TODAY, coverage);
  const known = { entity_type: 'card', operation: 'read', actor_type: 'user' };
  const yesterday = new Date(TODAY - 1).toISOString();
  for (let at = 0; at < 100_002; at += 1) review.add({ ...known, created_at: yesterday, actor_id: `${at}` });
  review.add({ ...known, created_at: new Date(TODAY).toISOString(), actor_id: 'new' });
  expect(review.findings().new_actors).toBeNull();
});
