import { configureGlobal, readConfigureGlobal } from 'fast-check';
import { IS_SOAK } from './cases.ts';

// A fixed seed makes a failure depend on the change under test, not on luck. `npm run soak` looks for new cases, of which
// the fast tests try few.
if (!IS_SOAK)
  configureGlobal({
    ...readConfigureGlobal(),
    seed: 20_270_131,
    numRuns: process.env['PROPERTY'] === 'fast' ? 30 : 100,
  });
