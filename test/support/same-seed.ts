import { configureGlobal, readConfigureGlobal } from 'fast-check';

// What a test says depends on the change that it tests, not on luck. `npm run soak` looks for new cases.
if (process.env['SOAK'] === undefined) configureGlobal({ ...readConfigureGlobal(), seed: 20_270_131 });
