import { describe, expect, it } from 'vitest';
import { otherCycles, refuseRowsOfOtherCycle } from '../../../src/au/jobs/begin-cycle.ts';
import { sha256Of } from '../../../src/base/files/draft.ts';
import { claim, DAY, fileOf, fileRows, type Machine, Machines } from '../ledger/machines.ts';

const TEN = 'a b c d e f g h i j'.split(' ');

/** Checks that the cycle 2027-01 may begin with rows of these tokens. */
async function begin(
  { ledger, client }: Machine,
  tokens: readonly string[],
  cycle?: string,
  isSandbox = false,
): Promise<void> {
  const file = fileOf(tokens);
  const [rows, sha256] = [await fileRows(ledger, file), sha256Of(file.text)];
  const others = await otherCycles(ledger, cycle ?? 'file-0123456789abcdef', rows, sha256);
  const words = ['au', 'submit', 'tokens.csv'];
  const beginning = { name: 'tokens.csv', rows: rows.rows.size, cycle, words, now: client.now(), isSandbox };
  await refuseRowsOfOtherCycle(client, others, beginning);
}

/** Returns machines on which cycle 2026-12 began with ten rows, and whose results were read where it is done. */
async function december(isDone: boolean): Promise<[Machines, Machine]> {
  const machines = new Machines();
  const runner = await machines.open('runner-7');
  const { id } = await claim(runner, TEN);
  if (isDone) await runner.ledger.cycle('2026-12').endClaim({ kind: 'done', job: id, born: null });
  return [machines, await machines.open('laptop')];
}

describe('the beginning of a cycle', () => {
  it('R79: the beginning of a cycle with rows of an old one whose results nobody has read names the command that reads them', async () => {
    const [machines, laptop] = await december(false);
    await machines.clock.advance(20 * DAY);
    machines.store('job-1', 'completed');
    await expect(begin(laptop, ['a', 'b', 'x'], '2027-01')).rejects.toMatchObject({
      code: 'conflict',
      message:
        '2 rows of tokens.csv (66.7%) are in cycle 2026-12 too, which began 20d ago and whose results nobody has read; nothing was submitted',
      hint: 'The first of these commands gets the results of cycle 2026-12. They may have new tokens and closed accounts of these rows. Then run the same command again. The second sends all rows of tokens.csv again in cycle 2027-01, and all of them are billed again.',
      next: ['au', 'resume', '2026-12', '--wait'],
      alternatives: [['au', 'submit', 'tokens.csv', '--cycle', '2027-01', '--pay-again']],
      facts: { other_cycle: '2026-12', shared_rows: 2 },
    });
  });

  it('R79: the beginning of a cycle with rows of a young one whose results nobody has read goes on with that one', async () => {
    const [machines, laptop] = await december(false);
    await machines.clock.advance(DAY);
    machines.store('job-1', 'completed');
    await expect(begin(laptop, TEN, '2027-01')).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('and whose results nobody has read') as string,
      next: ['au', 'submit', 'tokens.csv', '--cycle', '2026-12'],
      alternatives: [
        ['au', 'resume', '2026-12', '--wait'],
        ['au', 'submit', 'tokens.csv', '--cycle', '2027-01', '--pay-again'],
      ],
    });
  });

  it('a cycle whose results were read, although nobody received them, does not stop a later cycle as an open one', async () => {
    const [machines, laptop] = await december(false);
    const read = { kind: 'done', job: 'job-1', born: null, delivered: false } as const;
    await laptop.ledger.cycle('2026-12').endClaim(read);
    await expect(begin(laptop, TEN, '2027-01')).rejects.toMatchObject({ exitCode: 6 });
    await machines.clock.advance(20 * DAY);
    await expect(begin(laptop, TEN, '2027-01')).resolves.toBeUndefined();
  });

  it('a cycle of the sandbox that began within 14 days names the command that moves its clock to the next month', async () => {
    const [machines, laptop] = await december(true);
    await machines.clock.advance(DAY);
    await expect(begin(laptop, TEN, '2027-01', true)).rejects.toMatchObject({
      alternatives: [expect.arrayContaining(['--pay-again']), ['sandbox', 'clock', '+31d']],
    });
  });

  it('R79: the beginning of a cycle with rows of one that began within 14 days is refused', async () => {
    const [machines, laptop] = await december(true);
    await machines.clock.advance(14 * DAY - 1000);
    await expect(begin(laptop, TEN, '2027-01')).rejects.toMatchObject({ code: 'conflict', exitCode: 6 });
    await expect(begin(laptop, TEN)).rejects.toMatchObject({
      alternatives: [['au', 'submit', 'tokens.csv', '--pay-again']],
    });
    await machines.clock.advance(1000);
    await begin(laptop, TEN, '2027-01');
  });

  it('the beginning of a cycle may have a tenth of the rows of another', async () => {
    const [, laptop] = await december(true);
    const others = 'k l m n o p q r s'.split(' ');
    await begin(laptop, ['a', ...others], '2027-01');
    await expect(begin(laptop, ['a', 'b', ...others.slice(1)], '2027-01')).rejects.toMatchObject({ exitCode: 6 });
  });

  it('the beginning of a cycle is not compared with the cycle itself, nor with claims that ended', async () => {
    const [, laptop] = await december(false);
    await expect(begin(laptop, TEN, '2026-12')).resolves.toBeUndefined();
    const release = { kind: 'release', job: 'job-1', why: 'failed', proof: '' } as const;
    await laptop.ledger.cycle('2026-12').endClaim(release);
    await expect(begin(laptop, TEN, '2027-01')).resolves.toBeUndefined();
  });

  it('the beginning of a cycle names the newest of the cycles with its rows', async () => {
    const [machines, laptop] = await december(true);
    await machines.clock.advance(20 * DAY);
    const { id } = await claim(laptop, TEN, { cycle: '2026-12.2' });
    await laptop.ledger.cycle('2026-12.2').endClaim({ kind: 'done', job: id, born: null });
    await expect(begin(laptop, TEN, '2027-01')).rejects.toMatchObject({ facts: { other_cycle: '2026-12.2' } });
  });
});
