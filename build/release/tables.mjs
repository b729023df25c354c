// Names the tables of standards whose lists are more than a year old, and ends with 1 if there are any:
// node build/release/tables.mjs. `--today <date>` checks as of another day.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

const YEAR_MS = 365 * 86_400_000;

const { values } = parseArgs({ options: { today: { type: 'string' } } });
const today = values.today === undefined ? Date.now() : Date.parse(values.today);

for (const path of ['src/schema/three-ds/currencies.csv', 'src/schema/three-ds/countries.csv']) {
  const [head] = readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8').split('\n');
  const date = /\d{4}-\d{2}-\d{2}/.exec(head)?.[0] ?? '';
  if (today - Date.parse(date) <= YEAR_MS) continue;
  console.log(`${path} is more than a year old (${head.slice(2)}). docs/testing-3ds.md says where it comes from.`);
  process.exitCode = 1;
}
