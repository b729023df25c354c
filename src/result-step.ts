/** The steps that an operator can choose for the rows of a result code. */
export const RESULT_STEPS = ['replace', 'keep', 'exclude', 'mend'] as const;

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
