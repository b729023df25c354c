import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { cursor, textToSend } from '../../../src/cli/app/value-parsers.ts';
import { serve } from '../../support/fault-server.ts';
import { answer } from '../../support/fault-steps.ts';
import { PUBLISHED_TEST_CARDS } from '../../support/card-numbers.ts';
import { errorIn, svcHere } from '../../support/run-here.ts';
import { allCommands } from '../../support/tree.ts';
import { temporaryDirectory } from '../../support/directory.ts';

const CARD = '4111111111111111';

/** What the syntax of a parameter calls an id, a cursor or a cycle. */
const NAMES_SOMETHING = /<(?:\w+-)?id>|<tenant id>|[<[|](?:job|session|cycle|cursor)\b/;

// The command 3ds create looks at the body that it makes.
const naming = (await allCommands())
  .filter(({ words }) => words !== '3ds create')
  .flatMap(({ words, command }) =>
    Object.values(command.parameters)
      .filter(({ kind, syntax }) => kind !== 'flag' && NAMES_SOMETHING.test(syntax.replace('--cycle <', '<cycle ')))
      .map((parameter) => [words, parameter.syntax, parameter] as const),
  );

describe('a card number typed as an id', () => {
  it('many commands take an id, a cursor or a cycle', () => {
    expect(naming.length).toBeGreaterThan(20);
  });

  it.each(naming)('R40: svc %s refuses a card number for %s', (_words, _syntax, parameter) => {
    expect(() => parameter.parse(CARD)).toThrowError(expect.objectContaining({ code: 'refused_input' }));
  });

  it.each([
    ['logs', 'history', CARD],
    ['logs', '--entity-id', CARD],
    ['logs', '--entity-type', CARD],
    ['logs', '--start', CARD],
    ['3ds', 'show', CARD],
    ['3ds', 'challenge-result', CARD],
    ['3ds', 'authenticate', CARD, '--file', 'tokens.csv'],
    ['au', 'status', CARD],
    ['au', 'download', CARD],
    ['au', 'resume', CARD],
    ['au', 'ignore', CARD, '--yes'],
    ['au', 'upload', CARD, 'tokens.csv'],
    ['au', 'submit', 'tokens.csv', '--cycle', CARD],
  ])('R06, R40: svc %s %s %s %s ends with 13 before anything is sent or written', async (...argv) => {
    const server = await serve([answer(403)]);
    const home = temporaryDirectory();
    writeFileSync(join(home, 'tokens.csv'), 'token,expiration_year,expiration_month,merchant_id\n');
    const typed = argv.filter((word) => word !== undefined);
    const ended = await svcHere([...typed, '-o', 'json'], { baseUrl: server.url, home });
    expect({ code: ended.code, stdout: ended.stdout, requests: server.ledger }).toEqual({
      code: 13,
      stdout: '',
      requests: [],
    });
    expect(errorIn(ended)).toMatchObject({ code: 'refused_input', message: expect.stringContaining('card number') });
    expect(ended.stderr).not.toContain(CARD.slice(0, 8));
    expect(readdirSync(home)).toEqual(['tokens.csv']);
    expect(existsSync(join(home, '.local'))).toBe(false);
  });

  it.each(PUBLISHED_TEST_CARDS)('R40: the card number %s is refused as an id, also with separators', (card) => {
    for (const typed of [card, card.replaceAll(/(\d{4})/g, '$1 ').trim(), `x-${card}`])
      for (const parse of [textToSend, cursor])
        expect(() => parse(typed), typed).toThrowError(expect.objectContaining({ code: 'refused_input' }));
  });

  it.each([
    // The last 24 hexadecimal digits of these UUIDs contain card numbers.
    '41111111-1111-4111-8111-111111111111',
    '00000000-0000-4000-8000-411111111111',
    '4111111111111111abcdef0011223344',
    '3f2c1b5e',
    '2026-12',
    '+/+/bG9nczoxMjM0NTY3ODkwMTIzNDU2',
  ])('the id %s is no card number', (id) => {
    expect([textToSend(id), cursor(id)]).toEqual([id, id]);
  });

  it('the numbers of a cursor may look like a card number when they are taken together', () => {
    expect(cursor('1220000000000:03')).toBe('1220000000000:03');
  });
});
