import { writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Home, LAUNCHER } from '../support/svc.ts';
import { TerminalSession } from '../support/terminal.ts';

const COLUMNS = 40;
const RESULTS = `token,expiration_year,expiration_month,new_token,new_expiration_year,new_expiration_month,result_code
a,27,01,a2,29,11,UPD_PAN
b,27,01,,,,WRN_CONTACT_CARDHOLDER
c,27,01,,,,ERR_INVALID_EXP_DATE
`;

let home: Home;
beforeEach(() => (home = new Home()));
afterEach(() => home.remove());

describe('a terminal of 40 columns', () => {
  it.each([
    [[], 'save your API keys'],
    [['doctor'], 'account-updater:job:read'],
    [['--sandbox', 'logs', 'stats'], 'actors'],
    [['au', 'report', 'results.csv'], 'ERR_INVALID_EXP_DATE'],
  ])('svc %j breaks its lines itself, between words', async (argv, holds) => {
    writeFileSync(home.file('results.csv'), RESULTS);
    const env = home.environment({
      SVC_CONFIG_DIR: 'config',
      SVC_STATE_DIR: home.file('state'),
      SVC_CACHE_DIR: 'cache',
    });
    const run = { cwd: home.path, env: { ...env, SVC_TIME: 'utc' } };
    // The screen is wider than the 40 columns that svc is told, so that a line that is too long shows up whole.
    const session = new TerminalSession(
      'sh',
      ['-c', `stty cols ${COLUMNS}; exec "$0" "$@"`, process.execPath, LAUNCHER, ...argv],
      { ...run, columns: 200, rows: 100 },
    );
    await session.exited;
    const screen = session.screen();
    expect(screen).toContain(holds);
    // A path or a hash alone on its line is never broken, so that it can be copied.
    const wide = screen.split('\n').filter((line) => line.length > COLUMNS && / \S/.test(line.trim()));
    expect(wide).toEqual([]);
  });
});
