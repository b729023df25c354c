import { flag, repeated } from '../../cli/app/parameter.ts';
import { text } from '../../cli/app/value-parsers.ts';

/** The option `--no-unrecorded-jobs`, with which a job without a record stops the upload. */
export const noUnrecordedJobsParameter = flag(
  '--no-unrecorded-jobs',
  'refuse while the key has jobs not recorded here',
);

/** The option `--other-job`, for a job without a record that must not stop the upload. */
export const otherJobParameter = repeated('--other-job <id>', 'a job that belongs to another system', text);
