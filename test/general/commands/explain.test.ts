import { expect, it } from 'vitest';
import type { Meaning } from '../../../src/cli/glossary/glossary.ts';
import { ended, succeeded, svcHere } from '../../support/run-here.ts';

async function explained(...words: string[]): Promise<Meaning[]> {
  const { stdout } = succeeded(await svcHere(['explain', ...words, '-o', 'json']));
  return JSON.parse(stdout) as Meaning[];
}

async function refusal(word: string): Promise<string> {
  return (await svcHere(['explain', word, '-o', 'table'])).stderr;
}

it('svc explain says what a word means and what to do, in sentences', async () => {
  const { stdout } = await svcHere(['explain', 'WRN_OPT_OUT', '-o', 'table']);
  expect(stdout).toBe(
    'WRN_OPT_OUT (result code)\n  The cardholder does not want updates.\n  next: Consider leaving the token out of future requests.\n',
  );
});

it('svc explain names the exit code of an error code, and the EMV code of a value', async () => {
  expect((await svcHere(['explain', 'conflict', '-o', 'table'])).stdout).toMatch(
    /^conflict \(error code, exit code 6\)/,
  );
  expect((await svcHere(['explain', 'attempted', '-o', 'table'])).stdout).toMatch(
    /^attempted \(authentication status, EMV code A\)/,
  );
});

it.each(['', ' '])('svc explain %j is no word', async (word) => {
  ended(await svcHere(['explain', word]), 2, '[word] must not be empty', { stdout: '' });
});

it('svc explain knows the fields of a request by their path and by their name', async () => {
  const byPath = await explained('purchase_info.currency');
  expect(byPath).toEqual([expect.objectContaining({ kind: 'field of an authenticate request' })]);
  expect(await explained('acquirer_bin')).toEqual([expect.objectContaining({ name: 'merchant_info.acquirer_bin' })]);
});

it('svc explain without a word lists the words to people, and prints every meaning for programs', async () => {
  const { stdout } = await svcHere(['explain', '-o', 'table']);
  expect(stdout).toContain('exit code\n  0, 1, 2, 3,');
  expect((await explained()).length).toBeGreaterThan(500);
});

it.each([
  'SVC-API-KEY',
  'MCT',
  'event.id',
  'event.type',
  'event.timestamp',
  'event.tenant_id',
  'event.trace_id',
  'event.data.job.id',
  'event.data.job.status',
])('svc explain knows %s, a name of the interface', async (word) => {
  expect((await explained(word)).length).toBeGreaterThan(0);
});

it('R05: svc explain repeats an unknown phrase of words, and nothing that may be a key', async () => {
  expect(await refusal('frictionless flow of a card')).toContain('"frictionless flow of a card"');
  expect(await refusal('event.data.nothing')).toContain('"event.data.nothing"');
  for (const word of [
    'key 7Qz4',
    'ABCdefGHIjklMNOpqrSTu',
    'ab '.repeat(14),
    'sk_live_abc-def.ghijklmnopq',
    'key_4Dq81xYp20aa',
  ])
    expect(await refusal(word)).not.toContain(word.trim());
});

it('svc explain leads from the name of a variable to the help on variables', async () => {
  ended(await svcHere(['explain', 'SVC_TIMEOUT']), 2, {
    error: { message: 'svc explain does not know "SVC_TIMEOUT"', next: 'svc help environment' },
  });
});

it.each(['archive', 'cycle', 'ledger'])('svc explain %s says what README means by the word', async (word) => {
  expect(await explained(word)).toEqual([expect.objectContaining({ kind: 'term', name: word })]);
});

it('svc explain 403 names the command that says what the key may do', async () => {
  const [forbidden] = await explained('403');
  expect(forbidden?.means).toContain("'svc whoami'");
});

it.each([
  ['sucessful', "Did you mean 'successful'?", ['explain', 'successful']],
  ['opt_out', "Did you mean 'WRN_OPT_OUT'?", ['explain', 'WRN_OPT_OUT']],
  ['expired', "Did you mean 'card-expired'?", ['explain', 'card-expired']],
  ['xyzzyx', 'Without a word, the command lists all that it knows.', ['explain']],
])('svc explain refuses %s with what comes nearest', async (word, hint, next) => {
  const { stderr } = ended(await svcHere(['explain', word, '-o', 'json']), 2);
  expect(JSON.parse(stderr)).toMatchObject({ code: 'usage', hint, next: `svc ${next.join(' ')}` });
});
