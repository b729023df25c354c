import { defineConfig } from 'vitest/config';
import { embeddedJq } from './build/embed-jq.ts';
import { embeddedText } from './build/embed-text.ts';
import manifest from './package.json' with { type: 'json' };
import { heldImports } from './test/simulator/held-imports.config.ts';

/** Slow tests, which stand beside their subjects. */
const SLOW = 'test/**/*.slow.test.ts';

/** Tests that replace modules, and therefore need workers that have not loaded these yet. */
const REPLACING_MODULES = [
  'test/au/commands/refresh.forgotten-jobs.slow.test.ts',
  'test/au/jobs/send-rows.model.slow.test.ts',
  'test/au/jobs/submit-file.divided.slow.test.ts',
  'test/au/jobs/submit-file.sent-rows.slow.test.ts',
];

/** Slow tests of what Node does for the tool: streams, sockets, processes, terminals, memory. All others run with one Node. */
const EACH_NODE = [
  'test/cli/config/client-certificate.slow.test.ts',
  'test/cli/output/{jq,pager,terminal.screen}.slow.test.ts',
  'test/client/http/exchange.real-servers.slow.test.ts',
  'test/client/transfer/upload.slow.test.ts',
  'test/e2e/{memory,memory-limit,open-files,outputs,surroundings,tls}.slow.test.ts',
  'test/logs/archive/read-segment.slow.test.ts',
  'test/project/{executables,library,warnings}.slow.test.ts',
  'test/sandbox/commands/exec.slow.test.ts',
];

/** Tests in simulated worlds. */
const SIMULATOR = 'test/simulator/*.slow.test.ts';

/** The file that gets a report for .ci/run to count. */
const { TEST_REPORT } = process.env;

export default defineConfig({
  define: { SVC_VERSION: JSON.stringify(manifest.version) },
  plugins: [embeddedJq(1), embeddedText()],
  test: {
    // No test waits for real time: these limits end what hangs, also on a machine that is busy with ten other things.
    // A soak lasts as long as somebody wants.
    testTimeout: process.env['SOAK'] === undefined ? 600_000 : 0,
    hookTimeout: 600_000,
    // A test that compares nothing fails. By default, expect.poll gives up after one second.
    expect: { requireAssertions: true, poll: { timeout: 300_000 } },
    // Tests leave much behind at once: with more room, V8 collects it less often.
    execArgv: ['--max-semi-space-size=32'],
    ...(TEST_REPORT !== undefined && { reporters: ['default', ['json', { outputFile: TEST_REPORT }]] }),
    setupFiles: ['test/support/own-directory.ts', 'test/support/no-warnings.ts', 'test/support/same-seed.ts'],
    projects: [
      // Test files share workers and loaded modules. Loading them again for each file took a fifth of the time.
      {
        extends: true,
        test: {
          name: 'fast',
          include: ['test/**/*.test.ts'],
          exclude: [SLOW],
          isolate: false,
          env: { PROPERTY: 'fast' },
        },
      },
      { extends: true, test: { name: 'slow', include: EACH_NODE, isolate: false } },
      {
        extends: true,
        test: {
          name: 'rules',
          include: [SLOW],
          exclude: [...EACH_NODE, ...REPLACING_MODULES, SIMULATOR],
          isolate: false,
        },
      },
      { extends: true, test: { name: 'alone', include: REPLACING_MODULES, isolate: true } },
      { extends: true, plugins: [heldImports()], test: { name: 'simulator', include: [SIMULATOR], isolate: true } },
    ],
  },
});
