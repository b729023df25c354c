import { flag, repeated } from '../../cli/app/parameter.ts';
import { text } from '../../cli/app/value-parsers.ts';

/** The option `--no-unrecorded-jobs`, with which a job without a record stops the upload. */
export const noUnrecordedJobsParameter = flag(
  '--no-unrecorded-jobs',
  'upload nothing while this key has newer jobs that are not recorded here; for a key that this system alone uses',
);

/** The option `--other-job`, for a job without a record that must not stop the upload. */
export const otherJobParameter = repeated(
  '--other-job <id>',
  'this job of the key is of another system; may be repeated',
  text,
);
