import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { ended, succeeded } from '../../support/run-here.ts';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { openQuickDesk, type QuickDesk } from '../commands/support.ts';
import { refuseWith } from '../support.ts';

const SENT = exampleRequestFile();
const OTHER = SENT.replaceAll(/^[\da-f]{8}/gm, '99999999');

/** What happens to the file after it was submitted. */
const CHANGES: Readonly<Record<string, (file: string) => void>> = {
  'has other tokens': (file) => writeFileSync(file, OTHER),
  'has fewer rows': (file) => writeFileSync(file, SENT.split('\n').slice(0, 5).join('\n')),
  'is empty': (file) => writeFileSync(file, ''),
  'is gone': (file) => rmSync(file),
  'is a directory': (file) => {
    rmSync(file);
    mkdirSync(file);
  },
};

const LATER = ['au resume 2026-12 --wait --out r.csv', 'au resume --wait', 'au resume <job> --wait'];

/** Submits the file, and changes it before the service has it: the store refuses the first upload. */
async function changedDesk(change: string): Promise<QuickDesk> {
  let refusals = 1;
  const desk = await openQuickDesk({
    intercept: (incoming, outgoing, proceed) =>
      incoming.method === 'PUT' && (refusals -= 1) >= 0 ? refuseWith(403)(incoming, outgoing, proceed) : proceed(),
  });
  ended(await desk.svc('au submit tokens.csv --cycle 2026-12'), 4);
  CHANGES[change]?.(desk.home.file('tokens.csv'));
  return desk;
}

it.each(Object.keys(CHANGES))(
  'R80: svc au resume sends and compares the rows that were submitted, where the file %s by then',
  async (change) => {
    for (const line of LATER) {
      const desk = await changedDesk(change);
      const [job = ''] = desk.jobs();
      succeeded(await desk.svc(line.replace('<job>', job)));
      expect(desk.received()).toEqual([SENT]);
      const got = await desk.svc(`au download ${job} --out got.csv`);
      expect(JSON.parse(got.stdout), got.stderr).toMatchObject({ compared: true });
      const answered = readFileSync(desk.home.file('got.csv'), 'utf8').trimEnd().split('\n').slice(1);
      expect(answered.filter((row) => !SENT.includes(row.slice(0, 36)))).toEqual([]);
    }
  },
);
