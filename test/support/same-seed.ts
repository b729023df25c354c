import { configureGlobal, readConfigureGlobal } from 'fast-check';

// A fixed seed makes a failure depend on the change under test, not on luck. `npm run soak` looks for new cases.
if (process.env['SOAK'] === undefined) configureGlobal({ ...readConfigureGlobal(), seed: 20_270_131 });
