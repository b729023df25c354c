import { defineConfig } from 'vitest/config';
import { embeddedJq } from './build/embed-jq.ts';
import { embeddedText } from './build/embed-text.ts';
import manifest from './package.json' with { type: 'json' };
import { heldImports } from './test/simulator/held-imports.config.ts';

/** Slow tests, which stand beside their subjects. */
const SLOW = 'test/**/*.slow.test.ts';

/** Tests that replace modules, and therefore need workers that have not loaded these yet. */
const REPLACING_MODULES = [
  'test/au/commands/prepare.late-repeats.slow.test.ts',
  'test/au/results/share-results.slow.test.ts',
  'test/au/send/submit-file.parts-of-one-job.slow.test.ts',
  'test/au/send/upload-parts.model.slow.test.ts',
  'test/au/send/upload-run.sent-rows.slow.test.ts',
];

/** Tests of rules that do not depend on Node, for which one version of Node suffices. */
const OWN_RULES = [
  'test/{browser,fuzz,mutants,sweeps}/*.slow.test.ts',
  'test/**/*.{model,property}.slow.test.ts',
  'test/au/{next,prepare,results,resume,run,send,wait}/*.slow.test.ts',
  'test/au/commands/{refresh,refresh.exclusions,refresh.kept,refresh.killed,refresh.lost-runs}.slow.test.ts',
  'test/au/commands/resume.missing-job.slow.test.ts',
  'test/au/ledger/*.slow.test.ts',
  'test/client/store/s3/store.swift.slow.test.ts',
  'test/e2e/{archive-killed,runs-killed,shared-ledger}.slow.test.ts',
  'test/logs/{archive,search,verify}/**/*.slow.test.ts',
  'test/logs/follow/follow.date-header.slow.test.ts',
  'test/logs/commands/archive.{as-sent,clocks,s3}.slow.test.ts',
  'test/project/{docs,heartbeats,operations,own-directory,recipes,scripts}.slow.test.ts',
  'test/sandbox/commands/reset.slow.test.ts',
];

/** Tests in simulated worlds. */
const SIMULATOR = 'test/simulator/*.slow.test.ts';

/** The file that gets a report for .ci/run to count. */
const { TEST_REPORT } = process.env;

export default defineConfig({
  define: { SVC_VERSION: JSON.stringify(manifest.version) },
  plugins: [embeddedJq(), embeddedText()],
  test: {
    // No test waits for real time: these limits end what hangs, also on a machine that is busy with ten other things.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    // A test that compares nothing fails. By default, expect.poll gives up after one second, too few on a busy machine.
    expect: { requireAssertions: true, poll: { timeout: 30_000 } },
    // Most tests wait for processes and sockets, so that more of them can run than there are cores.
    maxWorkers: 4,
    ...(TEST_REPORT !== undefined && { reporters: ['default', ['json', { outputFile: TEST_REPORT }]] }),
    setupFiles: ['test/support/own-directory.ts', 'test/support/no-warnings.ts', 'test/support/same-seed.ts'],
    projects: [
      // Test files share workers and loaded modules. Loading them again for each file took a fifth of the time.
      { extends: true, test: { name: 'fast', include: ['test/**/*.test.ts'], exclude: [SLOW], isolate: false } },
      {
        extends: true,
        test: {
          name: 'slow',
          include: [SLOW],
          exclude: [...REPLACING_MODULES, SIMULATOR, ...OWN_RULES],
          isolate: false,
        },
      },
      { extends: true, test: { name: 'rules', include: OWN_RULES, exclude: REPLACING_MODULES, isolate: false } },
      { extends: true, test: { name: 'alone', include: REPLACING_MODULES, isolate: true } },
      { extends: true, plugins: [heldImports()], test: { name: 'simulator', include: [SIMULATOR], isolate: true } },
    ],
  },
});
