import { writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { openQuickDesk } from '../au/commands/support.ts';
import { errorIn, type HereResult } from '../support/run-here.ts';

const A = '0b7e2f5a-6f0d-4c57-9d0a-1f6f0f3c1a01';
const B = '5c1d9a34-8a57-4a0e-b1b4-7d2e9c4f2b02';
const HEADER = 'token,expiration_year,expiration_month,merchant_id';

/** Small files that no command takes as they are, by what is wrong with them. */
const FILES: Readonly<Record<string, string>> = {
  nothing: '',
  'a header alone': `${HEADER}\n`,
  'no header': `${A},31,05,\n${B},31,05,\n`,
  'a header with one cell less': `token,expiry\n1,${A},05/31\n2,${B},05/31\n`,
  'a header with one cell more': `token,expiry,\n${A},05/31,x,y\n${B},05/31,x,y\n`,
  'a row with one cell more': `token,expiry\n${A},05/31\n${B},05/31,x\n`,
  'two columns of the same name': `token,token,expiry\n${A},x,05/31\n`,
  'no column of tokens': `card_ref,expiry\n${A},05/31\n`,
  'a year without a month': `token,expiration_year\n${A},31\n`,
  'an expiration twice': `token,expiry,exp_date\n${A},05/31,05/31\n`,
  'a merchant of another name': `token,expiry,store\n${A},05/31,S-1\n${A},05/31,S-2\n${B},05/31,S-1\n`,
  'a date in two ways': `token,expiry\n${A},05/06\n${B},06/05\n`,
  'a word for nothing': `${HEADER}\n${A},31,05,NULL\n${B},31,05,NA\n`,
  'a time with a zone': `token,expiry\n${A},2031-05-31T22:00:00Z\n${B},2031-06-30T22:00:00Z\n`,
  'quotes over rows': `token\tcustomer\n${A}\t"Monitor\n${B}\tMonitor 24"\n`,
  'a quote that is open': `${HEADER}\n${A},31,05,"M\n`,
  'a table for people': ` token | expiry\n-------+--------\n ${A} | 05/31\n`,
  semicolons: `${HEADER}\n${A},31,05,\n`.replaceAll(',', ';'),
  'a month of 13': `${HEADER}\n${A},31,13,\n`,
  'a token in exponent form': `token,expiry\n1.23456789012346E+31,05/31\n`,
  JSON: `{"token":"${A}"}\n`,
  HTML: `<!doctype html><html></html>\n`,
  results: `token,expiration_year,expiration_month,new_token,new_expiration_year,new_expiration_month,result_code\n${A},31,05,,,,WRN_OPT_OUT\n`,
};

const COMMANDS = ['au prepare bad.csv', 'au check bad.csv', 'au submit bad.csv', 'au refresh bad.csv --cycle 2026-12'];

/** What a person replaces in a command before it can be typed. */
const PLACEHOLDER = /^<.*>$|NAME|^export\.csv$/;

/** Returns what a refusal says: its message, and the problems where it only counts them. */
function refusalOf(done: HereResult): string | undefined {
  if (done.code === 0 || done.stderr === '') return undefined;
  const { message, problems } = errorIn(done);
  return [message, JSON.stringify(problems ?? [])].join(' ');
}

it.each(COMMANDS)('the next command of each refusal of svc %s does not end in the same refusal', async (line) => {
  const found: string[] = [];
  let typed = 0;
  for (const [what, text] of Object.entries(FILES)) {
    const desk = await openQuickDesk();
    writeFileSync(desk.home.file('bad.csv'), text);
    const first = await desk.svc(line);
    const refusal = refusalOf(first);
    if (refusal === undefined) continue;
    const { next = '', alternatives = [] } = errorIn(first) as { next?: string; alternatives?: string[] };
    for (const words of [next, ...alternatives].map((each) => each.split(' '))) {
      if (words.length < 2 || words.some((word) => PLACEHOLDER.test(word))) continue;
      typed += 1;
      const second = await desk.svc(words.slice(1));
      if (refusalOf(second) === refusal) found.push(`${what}: svc ${line} and ${words.join(' ')}: ${refusal}`);
      if (second.code === 2) found.push(`${what}: ${words.join(' ')} is no command: ${refusalOf(second)}`);
    }
  }
  expect(typed).toBeGreaterThan(2);
  expect(found).toEqual([]);
});
