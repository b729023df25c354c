import { readFileSync, statSync } from 'node:fs';
import { expect, it } from 'vitest';
import { ended, succeeded } from '../../support/run-here.ts';
import { openQuickDesk } from './support.ts';

async function openUpdate() {
  const desk = await openQuickDesk();
  const refresh = (words: string) => desk.svc(`au refresh ${words} --fail-on err=100%`);
  const file = (name: string, cycle = '2026-11'): string => desk.home.file(`refresh/${cycle}/todo/${name}`);
  const bytes = (name: string, cycle?: string): string => readFileSync(file(name, cycle), 'utf8');
  const seen = (): unknown[] =>
    ['update.sql', 'replace.csv'].map((name) => [bytes(name), statSync(file(name)).ino, statSync(file(name)).mtimeMs]);
  return { desk, refresh, bytes, seen };
}

it('update.sql and replace.csv stay byte for byte the same until a result changes', async () => {
  const { desk, refresh, seen } = await openUpdate();
  succeeded(await refresh('tokens.csv --cycle 2026-11'));
  const first = seen();
  succeeded(await refresh('tokens.csv --cycle 2026-11'));
  succeeded(await refresh('--cycle 2026-11'));
  expect(seen()).toEqual(first);
  expect(desk.uploads()).toBe(1);
});

it('svc au refresh remembers --sql in its cycle and in the next one, and another one that is typed replaces it', async () => {
  const { refresh, bytes, seen } = await openUpdate();
  succeeded(await refresh('tokens.csv --cycle 2026-11 --sql sqlite'));
  const first = seen();
  expect(bytes('update.sql')).toContain('sqlite3 cards.db');
  ended(await refresh('--cycle 2026-11'), 0, 'update.sql is for sqlite, as in cycle 2026-11\n');
  expect(seen()).toEqual(first);
  succeeded(await refresh('tokens.csv --cycle 2026-12 --pay-again'));
  expect(bytes('update.sql', '2026-12')).toContain('sqlite3 cards.db');
  succeeded(await refresh('--cycle 2026-12 --sql postgres'));
  expect(bytes('update.sql', '2026-12')).toContain('psql -Xqf');
  const changed = await refresh('--cycle 2026-12');
  expect(changed.stderr).not.toContain('update.sql is for');
  expect(bytes('update.sql', '2026-12')).toContain('psql -Xqf');
});
