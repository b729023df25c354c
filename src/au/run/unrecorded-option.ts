import { flag, repeated } from '../../cli/app/parameter.ts';
import { text } from '../../cli/app/value-parsers.ts';

/** `--no-unrecorded-jobs`: a job that no record names stops the upload. */
export const noUnrecordedJobsParameter = flag(
  '--no-unrecorded-jobs',
  'upload nothing while this key has newer jobs that are not recorded here; for a key that this system alone uses',
);

/** `--other-job`: a job that no record names, and that does not stop the upload. */
export const otherJobParameter = repeated(
  '--other-job <id>',
  'this job of the key is of another system; may be repeated',
  text,
);
