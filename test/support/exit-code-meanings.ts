import { topicPage } from '../../src/cli/app/topics.ts';

/** Returns the meanings of exit codes as `svc help exit-codes` explains them. */
export async function exitCodeMeanings(): Promise<ReadonlyMap<number, string>> {
  const { sections } = await topicPage('exit-codes');
  const codes = sections.find(({ title }) => title === 'Codes')?.rows ?? [];
  return new Map(codes.map(([code, meaning]) => [Number(code), meaning]));
}
