/** Forms in which data is written, the one for people first. */
export const OUTPUT_FORMATS = ['table', 'json', 'jsonl', 'csv', 'yaml'] as const;

/** One of {@link OUTPUT_FORMATS}. */
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];

/** How a table shows times. */
export const TIME_STYLES = ['utc', 'local', 'relative'] as const;

/** One of {@link TIME_STYLES}. */
export type TimeStyle = (typeof TIME_STYLES)[number];

/** The steps that an operator can choose for the rows of a result code. */
export const RESULT_STEPS = ['replace', 'keep', 'exclude', 'fix'] as const;

/** What to do with the token of a result row in the next request. */
export type ResultStep = (typeof RESULT_STEPS)[number];

/** The same as settings and options write it: WRN_OPT_OUT=exclude. */
export type ChosenStep = readonly [code: string, step: ResultStep];

const CODE = /^[A-Za-z0-9_]{1,64}$/;

/** What is wrong with the name of a result code, if anything. Codes that are not known here are fine. */
export function resultCodeProblem(code: string): string | undefined {
  return CODE.test(code) ? undefined : 'is no result code: letters, digits and underscores, 64 at most';
}

/** Reads `<code>=<step>`; undefined for anything else. */
export function parseChosenStep(text: string): ChosenStep | undefined {
  const [code = '', word, ...rest] = text.split('=');
  const step = RESULT_STEPS.find((known) => known === word);
  if (step === undefined || rest.length > 0 || resultCodeProblem(code) !== undefined) return undefined;
  return [code, step];
}

const UNITS_MS: Readonly<Record<string, number>> = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000, ms: 1 };

/** Reads `90s`, `15m`, `1h30m`, `7d`: whole numbers with units, largest first. Milliseconds, or undefined. */
export function parseDuration(text: string): number | undefined {
  const parts = /^(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?(?:(\d+)ms)?$/.exec(text);
  if (parts === null || text === '') return undefined;
  const sizes = Object.values(UNITS_MS);
  const ms = parts.slice(1).reduce((sum, part, at) => sum + Number(part ?? 0) * (sizes[at] ?? 0), 0);
  return Number.isSafeInteger(ms) ? ms : undefined;
}
