import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { svcHere } from '../../support/run-here.ts';
import { temporaryDirectory } from '../../support/directory.ts';

export const HEADER = 'token,expiration_year,expiration_month,merchant_id';

export const REQUEST = `${HEADER}\na,27,01,M1\nb,27,02,"M,2"\nc,27,03,\nd,,,M1\ne,27,05,M1\nf,27,06,M1\n`;

export const RESULT_HEADER =
  'token,expiration_year,expiration_month,new_token,new_expiration_year,new_expiration_month,result_code';

export const RESULTS = `${RESULT_HEADER}
a,27,01,a2,29,11,UPD_PAN
b,27,02,b2,2030,4,UPD_EXP_DATE
c,27,03,,,,WRN_CLOSED_ACCOUNT
d,,,,,,ERR_INVALID_EXP_DATE
e,27,05,,,,WRN_OPT_OUT
`;

export function place(files: Readonly<Record<string, string>> = {}) {
  const cwd = temporaryDirectory();
  const put = (name: string, text: string): void => writeFileSync(join(cwd, name), text);
  for (const [name, text] of Object.entries({ 'q.csv': REQUEST, 'r.csv': RESULTS, ...files })) put(name, text);
  const next = (...words: string[]) => svcHere(['au', 'next', 'q.csv', 'r.csv', ...words], { cwd });
  const check = (name: string) => svcHere(['au', 'check', join(cwd, name)], { cwd });
  return { cwd, put, next, check, read: (name: string) => readFileSync(join(cwd, name), 'utf8') };
}
