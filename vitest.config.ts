import { defineConfig } from 'vitest/config';
import { embeddedJq } from './embed-jq.config.ts';
import manifest from './package.json' with { type: 'json' };

export default defineConfig({
  define: { SVC_VERSION: JSON.stringify(manifest.version) },
  plugins: [embeddedJq()],
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 20_000,
    hookTimeout: 20_000,
    // Most tests wait for processes and sockets: more of them than cores can be under way.
    maxWorkers: 4,
    // Files share their workers and what these have loaded: loading it anew for each was a fifth of the work.
    isolate: false,
  },
});
