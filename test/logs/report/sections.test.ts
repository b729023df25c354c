import { expect, it } from 'vitest';
import type { Findings, Part } from '../../../src/logs/report/findings.ts';
import { pageWords, reportPage } from '../../../src/logs/report/report.ts';
import { findingSections } from '../../../src/logs/report/sections.ts';

const PART: Part = ['new_actors', 'Actors not seen before', 'no new actors'];

it.each([
  [[], 30, 'no new actors', 'skipped'],
  [null, 3, 'skipped: 7 of the 30 days before are needed, 3 are archived', 'no new actors'],
  [null, 30, 'skipped: too many different ones to compare', 'no new actors'],
])('the page of a review with the rows %j and %i days before says %j', (rows, days, words, others) => {
  const findings = { new_actors: rows, past_days: days, findings: {} } as unknown as Findings;
  const sections = findingSections(findings, [PART], pageWords(new Map()), false);
  const page = reportPage({ title: 'Review', sentences: [], sections });
  expect(page).toContain(words);
  expect(page).not.toContain(others);
});
