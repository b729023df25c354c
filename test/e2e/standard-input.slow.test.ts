import { existsSync, readdirSync, statSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { exampleRequestFile } from '../../src/emulator/vault/cards.ts';
import { finished, Home } from '../support/svc.ts';
import { SHOWN_DIGITS } from '../support/card-numbers.ts';

const home = new Home();

const spool = home.file('.local/state/svc/spool');

function spooled(): string[] {
  return existsSync(spool) ? readdirSync(spool) : [];
}

/** Starts a command that copies standard input to disk, and waits until the copy exists. The input stays open. */
async function startReading(): Promise<ReturnType<Home['start']>> {
  const child = home.start(['au', 'check', '-']);
  child.stdin.write(exampleRequestFile());
  while (spooled().length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
  return child;
}

describe('a request file on standard input', () => {
  it('a request file on standard input is checked and submitted like any other', async () => {
    const checked = await home.svc(['au', 'check', '-'], { input: exampleRequestFile() });
    expect(checked).toMatchObject({ code: 0 });
    expect(JSON.parse(checked.stdout)).toMatchObject({ file: 'standard input', rows: 40, job_count: 1 });
    const submitted = await home.svc(['--sandbox', 'au', 'submit', '-', '--wait'], { input: exampleRequestFile() });
    expect(submitted).toMatchObject({ code: 0 });
    expect(JSON.parse(submitted.stdout)).toMatchObject({
      status: 'completed',
      results: { file: 'results.csv', updated: 14 },
    });
  });

  it('R41: a request file on standard input is copied for its owner alone, and the copy is gone when the command ends', async () => {
    const child = await startReading();
    const [name = ''] = spooled();
    expect(statSync(`${spool}/${name}`).mode & 0o777).toBe(0o600);
    expect(statSync(spool).mode & 0o777).toBe(0o700);
    child.stdin.end();
    expect(await finished(child)).toMatchObject({ code: 0 });
    expect(spooled()).toEqual([]);
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)(
    'R41: a request file on standard input leaves no copy when %s ends the command while it still reads',
    async (signal, code) => {
      const child = await startReading();
      child.kill(signal);
      expect(await finished(child)).toMatchObject({ code });
      expect(spooled()).toEqual([]);
    },
  );

  it('R41: a copy that a killed command left is gone after the next one', async () => {
    const child = await startReading();
    child.kill('SIGKILL');
    await finished(child);
    expect(spooled()).toHaveLength(1);
    await home.svc(['au', 'check', '-'], { input: exampleRequestFile() });
    expect(spooled()).toEqual([]);
  });

  it('R40: a request file on standard input with a card number in it is refused: nothing is created, and the number shows nowhere', async () => {
    const input = 'token,expiration_year,expiration_month,merchant_id\ntok,26,12,\n4111 1111-1111 1111,26,12,\n';
    const { code, stdout, stderr } = await home.svc(['--sandbox', '--debug', 'au', 'submit', '-'], { input });
    expect({ code, stdout }).toEqual({ code: 13, stdout: '' });
    expect(stderr).toMatch(/"line":3/);
    expect(stderr).not.toMatch(SHOWN_DIGITS);
    expect(stderr).not.toContain('POST');
  });
});
