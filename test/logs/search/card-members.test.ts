import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { PUBLISHED_TEST_CARDS } from '../../support/card-numbers.ts';
import { errorIn, svcHere } from '../../support/run-here.ts';
import { serveTexts } from '../commands/log-server.ts';
import { temporaryDirectory } from '../../support/directory.ts';

const [CARD] = PUBLISHED_TEST_CARDS;
const SPACED = CARD.replaceAll(/(\d{4})(?=\d)/g, '$1 ');
// A number of 19 digits, which JavaScript cannot represent.
const LONG = '6011000990139424124';
const DEEP = '['.repeat(300) + `"${CARD}"` + ']'.repeat(300);

/** Entries with a card number, each with the members that are expected for it. */
const HITS: readonly (readonly [entry: string, members: readonly string[]])[] = [
  [`"message":"paid with ${CARD}","entity_id":"e-1"`, ['message']],
  [`"message":"paid with ${SPACED}","actor_id":"a-1"`, ['message']],
  [String.raw`"message":"paid with \u0034${CARD.slice(1)}"`, ['message']],
  [`"entity_id":"${CARD}","entity_type":"card"`, ['entity_id']],
  [`"details":{"steps":[{"input":"none"},{"input":"${CARD}"}]},"message":"x"`, ['details.steps.input']],
  [`"pan":${CARD}`, ['pan']],
  [`"pan":${LONG}`, ['pan']],
  [`"${CARD}":"x"`, ['(card number)']],
  [`"note":"${CARD}","message":"again ${CARD}"`, ['message', 'note']],
  [`"message":"${CARD}","message":"hidden behind another member of this name"`, ['(several members together)']],
  [`"deep":${DEEP}`, ['deep']],
];

/** Entries with digits that are no card number. */
const MISSES = ['"message":"order 1234567890123456"', '"entity_id":"3f2c1b5e-9d4a-4f7b-8e21-000000000001"', '"n":1'];

const DAY = '2026-01-02';

function withTime(members: string, at: number): string {
  return `{${members},"created_at":"${DAY}T00:00:${String(at).padStart(2, '0')}Z"}`;
}

function place(): string {
  return path.join(temporaryDirectory(), 'audit');
}

async function archived(texts: readonly string[], ...options: string[]) {
  const { url: baseUrl } = await serveTexts(texts);
  const audit = place();
  const run = await svcHere(['logs', 'archive', audit, '--since', DAY, ...options], { baseUrl });
  return { audit, run, baseUrl };
}

function entriesIn(audit: string): string[] {
  return readdirSync(audit, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.gz'))
    .flatMap((file) =>
      gunzipSync(readFileSync(path.join(audit, file)))
        .toString()
        .trimEnd()
        .split('\n'),
    );
}

function digitsOf(text: string): string {
  return text.replaceAll(/\D/g, '');
}

describe('card numbers in an archive', () => {
  it('svc logs archive --fail-on-card-number archives everything, and ends with 13 and the number of entries', async () => {
    const texts = [...HITS.map(([entry]) => entry), ...MISSES].map(withTime);
    const { audit, run, baseUrl } = await archived(texts, '--fail-on-card-number');
    expect(run.code).toBe(13);
    expect(JSON.parse(run.stdout)).toMatchObject({ entries: texts.length, card_numbers: HITS.length });
    expect(errorIn(run)).toMatchObject({
      code: 'refused_input',
      message: `${HITS.length} entries with what looks like a card number were archived as the service sent them`,
      next: `svc logs search ${audit} --card-numbers`,
      card_numbers: HITS.length,
    });
    expect(entriesIn(audit).toSorted()).toEqual(texts.toSorted());
    expect((await svcHere(['logs', 'verify', audit])).code).toBe(0);
    // Entries of earlier runs do not count again.
    const again = await svcHere(['logs', 'archive', audit, '--fail-on-card-number'], { baseUrl });
    expect([again.code, JSON.parse(again.stdout).entries]).toEqual([0, 0]);
  });

  it('svc logs archive --fail-on-card-number ends with 0 without a card number, and is refused with --follow', async () => {
    expect((await archived(MISSES.map(withTime), '--fail-on-card-number')).run.code).toBe(0);
    const both = await svcHere(['logs', 'archive', place(), '--follow', '--fail-on-card-number']);
    expect(both.code).toBe(2);
  });

  it('R06: svc logs search --card-numbers lists each entry and its members, and no part of a number', async () => {
    const texts = [...HITS.map(([entry]) => entry), ...MISSES].map(withTime);
    const { audit } = await archived(texts);
    for (const format of ['json', 'jsonl', 'csv', 'yaml', 'table']) {
      const { code, stdout, stderr } = await svcHere(['logs', 'search', audit, '--card-numbers', '-o', format]);
      expect(code).toBe(0);
      for (const part of [CARD.slice(0, 6), CARD.slice(-4), LONG.slice(0, 6), LONG.slice(-4)])
        expect(digitsOf(stdout.replaceAll(/2026-01-02[T ]00:00:\d\d/g, ''))).not.toContain(part);
      expect(stderr).toContain(`${HITS.length} entries found; ${texts.length} read`);
    }
    const { stdout } = await svcHere(['logs', 'search', audit, '--card-numbers', '-o', 'json']);
    const rows = JSON.parse(stdout) as { created_at: string; members: string[]; entity_id: string | null }[];
    const byTime = rows.toSorted((one, other) => one.created_at.localeCompare(other.created_at));
    expect(byTime.map(({ members }) => members)).toEqual(HITS.map(([, members]) => members));
    expect(byTime[0]).toMatchObject({ entity_id: 'e-1' });
    expect(byTime[3]).toMatchObject({ entity_id: null });
  });

  it('svc logs search --card-numbers combines with filters and a limit', async () => {
    const { audit } = await archived(HITS.map(([entry]) => entry).map(withTime));
    const only = await svcHere(['logs', 'search', audit, '--card-numbers', '--entity-type', 'card']);
    expect(only.stdout.trimEnd().split('\n')).toHaveLength(1);
    const first = await svcHere(['logs', 'search', audit, '--card-numbers', '--limit', '2']);
    expect(first.stdout.trimEnd().split('\n')).toHaveLength(2);
    const none = await svcHere(['logs', 'search', audit, '--card-numbers', '--entity-type', 'bank']);
    expect(none).toMatchObject({ code: 0, stdout: '' });
  });
});
