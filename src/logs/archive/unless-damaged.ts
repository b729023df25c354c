import { type ErrorCode, isSvcError } from '../../base/errors.ts';

/**
 * Resolves to the result of work; undefined if a file is damaged or missing, which some buckets report as forbidden. Work
 * that only reads may add the code `local` for unreadable files. Failed writes must stay errors.
 * @throws any other error
 */
export async function unlessDamaged<T>(work: Promise<T>, ...codes: readonly ErrorCode[]): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (isSvcError(error, 'not_found', 'checksum_mismatch', 'forbidden', ...codes)) return undefined;
    throw error;
  }
}
