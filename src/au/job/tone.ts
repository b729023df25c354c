import type { Tone } from '../../cli/output/view.ts';

/** Returns how the status of a job, a file or a cycle is colored. */
export function toneOf(status: unknown): Tone | undefined {
  return TONES.get(status);
}

const TONES: ReadonlyMap<unknown, Tone> = new Map([
  ['completed', 'good'],
  ['failed', 'bad'],
  ['unknown', 'warn'],
  ['pending', 'quiet'],
]);
